package main

import (
	"fmt"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// locked reports whether the run is a locked one. It reads --locked and the stock tools'
// name for it, -lockfile=readonly. Without either flag, runs on build servers, which set CI,
// are locked: they install just what was reviewed.
func locked(cmd *cli.Invocation, env func(string) string) (bool, error) {
	mode := cmd.String("lockfile")
	asked, name := cmd.Bool("locked"), "--locked"
	if mode == "readonly" {
		asked, name = true, "-lockfile=readonly"
	}
	switch {
	case mode != "" && mode != "readonly":
		return false, usageError{fmt.Errorf("-lockfile takes \"readonly\", got %q", mode)}
	case mode == "readonly" && cmd.IsSet("locked") && !cmd.Bool("locked"):
		return false, usageError{fmt.Errorf("-lockfile=readonly and --locked=false exclude each other")}
	case asked && cmd.Bool("upgrade"):
		return false, usageError{fmt.Errorf("%s and --upgrade exclude each other: one keeps the lock as it is, the other changes it", name)}
	case asked && cmd.Bool("lock-only"):
		return false, usageError{fmt.Errorf("%s and --lock-only exclude each other: one keeps the lock as it is, the other writes it", name)}
	case mode == "readonly":
		return true, nil
	case cmd.IsSet("locked"):
		return cmd.Bool("locked"), nil
	case cmd.Bool("upgrade"), cmd.Bool("lock-only"):
		return false, nil // these flags ask for a change of the lock
	}
	return onBuildServer(env), nil
}

// onBuildServer reports whether the environment variable CI is set as on build servers.
func onBuildServer(env func(string) string) bool {
	switch env("CI") {
	case "", "0", "false":
		return false
	}
	return true
}
