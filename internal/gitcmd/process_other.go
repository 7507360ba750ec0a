//go:build !unix

package gitcmd

import (
	"os"
	"os/exec"
)

// detach has nothing to do: there are no process groups to signal here.
func detach(*exec.Cmd) {}

// terminate kills, for want of anything gentler.
func terminate(p *os.Process) error { return p.Kill() }

// killGroup has no group to kill.
func killGroup(*os.Process) {}

func inherit(*exec.Cmd, *os.File) {}
