//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Detach gives the command a session of its own: a signal to the group reaches
// everything that it starts, and it has no terminal on which it could ask.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// Inherit keeps a file open in the command and in everything that it starts.
func Inherit(cmd *exec.Cmd, file *os.File) { cmd.ExtraFiles = append(cmd.ExtraFiles, file) }

// Terminate asks the process to end, and its group if it is the group's leader.
func Terminate(p *os.Process) error {
	if isLeader(p) {
		return syscall.Kill(-p.Pid, syscall.SIGTERM)
	}
	return p.Signal(syscall.SIGTERM)
}

// KillGroup kills what is left of the group whose leader is the process.
func KillGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // usually none is left
}

func isLeader(p *os.Process) bool {
	group, err := syscall.Getpgid(p.Pid)
	return err == nil && group == p.Pid
}
