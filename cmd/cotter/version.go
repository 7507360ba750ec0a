package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of a release build, which sets it with -ldflags
// "-X main.release=...".
var release = ""

// version returns the release or, for other builds, the version that the go command has
// recorded.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func versionCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "version",
		Short: "print the version",
	}, func(context.Context, *invocation) error { return printVersion(out) }, []addFlag{toggle("json", "print JSON")})
}

func printVersion(out *output) error {
	if out.json {
		return out.writeJSON(versionRecord{version(), platform()})
	}
	out.printf("cotter %s on %s\n", version(), platform())
	return nil
}

func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }
