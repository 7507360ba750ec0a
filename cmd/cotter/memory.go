package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// growth is the GC percentage (see [debug.SetGCPercent]) that applies after the first
// collection. 0 means the runtime's default.
var growth atomic.Int32

// collectLater delays the first garbage collection from a heap of 4 MiB to a heap of
// 32 MiB. Most runs end before that, and use most of their memory until they end. After the
// first collection the default percentage applies again, or the one that collectSeldom sets.
// collectLater does nothing if the user has set GOGC.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	asEver := debug.SetGCPercent(800)
	collected := new([16]byte)
	runtime.AddCleanup(collected, func(percent int32) {
		if more := growth.Load(); more > 0 {
			percent = more
		}
		debug.SetGCPercent(int(percent))
	}, int32(asEver))
}

// collectSeldom makes later collections rarer, for runs on many projects. Such a run needs
// little memory for longer than a project, and would spend a fifth of its time on garbage
// collection.
func collectSeldom() { growth.Store(300) }
