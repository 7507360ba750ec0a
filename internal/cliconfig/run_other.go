//go:build !unix

package cliconfig

import "os/exec"

// isolate leaves a helper as it is where there are no sessions.
func isolate(*exec.Cmd) {}
