// Package step gives a name to each change that a process makes on disk, so that tests can stop a
// real process between any two of them, make any one of them fail, or record their order.
//
// A name has the form "subject.object.operation", such as "project.journal.rename". Outside of
// tests there is no hook, and [Do] costs only an atomic load and a call.
package step

import "sync/atomic"

// Hook is called before each step with its name. If it returns an error, the step is
// skipped and fails with that error.
type Hook func(name string) error

var hook atomic.Pointer[Hook]

// SetHook sets the hook of this process. nil removes it. Only test binaries call it, in processes
// that they start for this purpose.
func SetHook(h Hook) {
	if h == nil {
		hook.Store(nil)
		return
	}
	hook.Store(&h)
}

// Do runs one step.
func Do(name string, change func() error) error {
	if h := hook.Load(); h != nil {
		if err := (*h)(name); err != nil {
			return err
		}
	}
	return change()
}
