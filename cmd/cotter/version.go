package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by -ldflags "-X main.release=..." in release builds.
var release = ""

// version is that of the go command in other builds.
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
	}, func(context.Context, *invocation, *output) error { return printVersion(out) }, []addFlag{toggle("json", "print JSON")})
}

func printVersion(out *output) error {
	if out.json {
		out.result(versionRecord{version(), platform()})
		return nil
	}
	out.printf("cotter %s on %s\n", version(), platform())
	return nil
}

func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }
