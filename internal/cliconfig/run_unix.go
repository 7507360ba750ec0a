//go:build unix

package cliconfig

import (
	"os/exec"
	"syscall"
)

// isolate puts a helper into a session of its own: it cannot ask on the
// terminal, and all that it starts ends with it.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
