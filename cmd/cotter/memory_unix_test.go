//go:build linux || darwin

package main

import (
	"runtime"
	"syscall"
)

// peakMemory returns the peak memory of this process, in bytes.
func peakMemory() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	if runtime.GOOS != "darwin" { // darwin counts in bytes, other systems in KiB
		usage.Maxrss <<= 10
	}
	return usage.Maxrss
}
