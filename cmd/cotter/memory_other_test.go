//go:build !linux && !darwin

package main

// peakMemory is not known.
func peakMemory() int64 { return 0 }
