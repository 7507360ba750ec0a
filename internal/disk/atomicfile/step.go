package atomicfile

import "sync/atomic"

// StepHook is called before each step. If it returns an error, the step fails with that.
type StepHook func(name string) error

var hook atomic.Pointer[StepHook]

// SetStepHook is only called by test binaries, in processes that they start for this. nil removes the hook.
func SetStepHook(h StepHook) {
	if h == nil {
		hook.Store(nil)
		return
	}
	hook.Store(&h)
}

// Step makes one change on disk. name is "subject.object.operation", such as "project.journal.rename".
func Step(name string, change func() error) error {
	if h := hook.Load(); h != nil {
		if err := (*h)(name); err != nil {
			return err
		}
	}
	return change()
}
