//go:build !unix

package procgroup

import (
	"os"
	"os/exec"
)

// Detach has nothing to do: there are no process groups to signal here.
func Detach(*exec.Cmd) {}

// Terminate kills, for want of anything gentler.
func Terminate(p *os.Process) error { return p.Kill() }

// KillGroup has no group to kill.
func KillGroup(*os.Process) {}

// Inherit does nothing: files are not inherited here.
func Inherit(*exec.Cmd, *os.File) {}
