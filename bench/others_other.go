//go:build !unix

package main

// watchOthers is not supported on this system.
func watchOthers() func() float64 { return func() float64 { return -1 } }
