//go:build !linux && !darwin

package main

// peakMemory returns 0: the value is not known on this system.
func peakMemory() int64 { return 0 }
