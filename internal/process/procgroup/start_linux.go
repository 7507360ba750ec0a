package procgroup

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a command that ends with this process, also if this one is killed: it is then asked to end. The caller calls
// ended when the command has ended.
func Start(cmd *exec.Cmd) (ended func(), err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	started, done := make(chan error), make(chan struct{})
	go func() {
		// Linux sends the signal when the thread ends that has started the command, so no other goroutine may end it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-done
		}
	}()
	if err := <-started; err != nil {
		return func() {}, err
	}
	return func() { close(done) }, nil
}
