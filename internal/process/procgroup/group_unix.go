//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Detach starts the command in its own session: a signal reaches all processes that it starts, and it has no
// terminal.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// Terminate asks the process, or the group whose leader it is, to end.
func Terminate(p *os.Process) error {
	if isLeader(p) {
		return syscall.Kill(-p.Pid, syscall.SIGTERM)
	}
	return p.Signal(syscall.SIGTERM)
}

// KillGroup kills what is left of the process's group.
func KillGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // usually none is left
}

func isLeader(p *os.Process) bool {
	group, err := syscall.Getpgid(p.Pid)
	return err == nil && group == p.Pid
}
