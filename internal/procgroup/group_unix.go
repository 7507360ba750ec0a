//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Detach gives the command a session of its own: signals reach everything it
// starts, and there is no terminal on which any of it could ask.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// Inherit leaves a file open in the command and in all that it starts.
func Inherit(cmd *exec.Cmd, file *os.File) { cmd.ExtraFiles = append(cmd.ExtraFiles, file) }

// Terminate asks the process, and its group where it leads one, to end.
func Terminate(p *os.Process) error {
	if leads(p) {
		return syscall.Kill(-p.Pid, syscall.SIGTERM)
	}
	return p.Signal(syscall.SIGTERM)
}

// KillGroup kills what is left of the group that the process led.
func KillGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // nobody left is the usual case
}

func leads(p *os.Process) bool {
	group, err := syscall.Getpgid(p.Pid)
	return err == nil && group == p.Pid
}
