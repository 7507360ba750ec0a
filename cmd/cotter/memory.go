package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// growth is by how many percent the heap grows between collections of garbage, after the
// first one; 0 means as ever.
var growth atomic.Int32

// collectLater puts off the first collection of garbage, from a heap of 4 MiB
// to one of 32 MiB. Most runs end before that, and what they allocate is in use
// to their end. All later collections are as ever, or as collectSeldom says. Users who
// set the runtime's own variable know better.
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

// collectSeldom is for runs over many projects: little of what they allocate lives longer
// than a project, and a fifth of their time would go into collecting it.
func collectSeldom() { growth.Store(300) }
