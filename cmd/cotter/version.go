package main

import (
	"runtime"
	"runtime/debug"

	"github.com/cotterpin/cotter/internal/cli/records"
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

func printVersion(out *output) error {
	if out.json {
		out.result(records.Version{Version: version(), Platform: platform()})
		return nil
	}
	out.printf("cotter %s on %s\n", version(), platform())
	return nil
}

func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }
