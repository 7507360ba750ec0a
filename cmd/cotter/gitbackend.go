package main

import (
	"cmp"
	"fmt"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/getmodules"
)

// gitBackendFlag returns the flag of every command that asks git repositories.
func gitBackendFlag() *cli.Flag {
	return &cli.Flag{
		Name: "git-backend", Type: cli.String,
		Usage: "fetch with `CLIENT`: git (the installed git), go (the built-in client), or auto (git if it is installed; the default)",
	}
}

// gitBackend returns the value of the flag, or of COTTER_GIT_BACKEND.
func gitBackend(cmd *cli.Invocation, env func(string) string) (getmodules.GitBackend, error) {
	name, where := cmd.String("git-backend"), "--git-backend"
	if name == "" {
		name, where = env("COTTER_GIT_BACKEND"), "COTTER_GIT_BACKEND"
	}
	switch cmp.Or(name, "auto") {
	case "auto":
		return getmodules.GitAuto, nil
	case "git":
		return getmodules.GitInstalled, nil
	case "go":
		return getmodules.GitBuiltIn, nil
	}
	return "", usageError{fmt.Errorf("%s takes \"auto\", \"git\" or \"go\", got %q", where, name)}
}
