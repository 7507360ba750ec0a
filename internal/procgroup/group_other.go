//go:build !unix

package procgroup

import (
	"os"
	"os/exec"
)

// Detach does nothing, because this system has no process groups.
func Detach(*exec.Cmd) {}

// Terminate kills the process, because this system has no signal that asks it to end.
func Terminate(p *os.Process) error { return p.Kill() }

// KillGroup does nothing, because this system has no process groups.
func KillGroup(*os.Process) {}
