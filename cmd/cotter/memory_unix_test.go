//go:build linux || darwin

package main

import (
	"runtime"
	"syscall"
)

// peakMemory is what this process has used at most, in bytes.
func peakMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	if runtime.GOOS != "darwin" { // which counts in bytes, others in KiB
		usage.Maxrss <<= 10
	}
	return usage.Maxrss
}
