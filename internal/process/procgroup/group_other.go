//go:build !unix

package procgroup

import (
	"os"
	"os/exec"
)

func Detach(*exec.Cmd) {}

// Terminate kills the process, because there is no signal that asks it to end.
func Terminate(p *os.Process) error { return p.Kill() }

func KillGroup(*os.Process) {}
