package atomicfile

import "sync/atomic"

// StepHook is called before each step with its name. If it returns an error, the step is
// skipped and fails with that error.
type StepHook func(name string) error

var hook atomic.Pointer[StepHook]

// SetStepHook sets the hook of this process. nil removes it. Only test binaries call it, in
// processes that they start for this purpose.
func SetStepHook(h StepHook) {
	if h == nil {
		hook.Store(nil)
		return
	}
	hook.Store(&h)
}

// Step makes one change on disk. The name has the form "subject.object.operation", such as
// "project.journal.rename".
func Step(name string, change func() error) error {
	if h := hook.Load(); h != nil {
		if err := (*h)(name); err != nil {
			return err
		}
	}
	return change()
}
