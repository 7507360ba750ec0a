package main

import (
	"path/filepath"
	"runtime"
)

// stateDir is the directory in which the command keeps what is this user's on
// this machine, such as the secret key that proves which files under .terraform
// it wrote itself: COTTER_STATE_DIR, or else "cotter" in XDG_STATE_HOME, if that
// is absolute, or else ~/.local/state/cotter (on Windows
// %LocalAppData%\cotter). It returns "" if there is no home either. The
// directory need not exist.
func stateDir(env func(string) string) string { return stateDirOn(runtime.GOOS, env) }

// stateDirOn is stateDir for an operating system, by its name in Go.
func stateDirOn(goos string, env func(string) string) string {
	if dir := env("COTTER_STATE_DIR"); dir != "" {
		return dir
	}
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "cotter")
	}
	if goos == "windows" {
		if dir := env("LocalAppData"); dir != "" {
			return filepath.Join(dir, "cotter")
		}
		return ""
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "cotter")
	}
	return ""
}
