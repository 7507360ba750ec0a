//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Detach starts the command in its own session. A signal to the process group reaches all
// processes that it starts, and it has no terminal on which it could prompt the user.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// Terminate asks the process to end. If it is the leader of a process group, the whole group is
// asked.
func Terminate(p *os.Process) error {
	if isLeader(p) {
		return syscall.Kill(-p.Pid, syscall.SIGTERM)
	}
	return p.Signal(syscall.SIGTERM)
}

// KillGroup kills the remaining processes of the group whose leader is the process.
func KillGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // usually none is left
}

func isLeader(p *os.Process) bool {
	group, err := syscall.Getpgid(p.Pid)
	return err == nil && group == p.Pid
}
