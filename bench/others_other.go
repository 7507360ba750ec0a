//go:build !unix

package main

// watchOthers would tell what else the machine does, but cannot.
func watchOthers() func() float64 { return func() float64 { return -1 } }
