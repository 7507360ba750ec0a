package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"
)

// release is the version that a release build sets by -ldflags "-X main.release=...".
var release = ""

// version is the release, or what the go command knows about this build.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func versionCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
		Action: func(_ context.Context, cmd *cli.Command) error {
			if out.json {
				return out.writeJSON(map[string]string{"version": version(), "platform": platform()})
			}
			out.printf("cotter %s on %s\n", version(), platform())
			return nil
		},
	}
}

func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }
