package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// collectLater puts off the first collection of garbage, from a heap of 4 MiB
// to one of 32 MiB. Most runs end before that, and what they allocate is in use
// to their end. All later collections are as ever. Whoever sets the runtime's own
// variable knows better.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	asEver := debug.SetGCPercent(800)
	collected := new([16]byte)
	runtime.AddCleanup(collected, func(percent int) { debug.SetGCPercent(percent) }, asEver)
}
