package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchMemory follows the peak memory of a process until the function that it
// returns is called. The resource usage that the system reports at the end
// would not do: it counts what this process had when it started the other.
func watchMemory(pid int) (peak func() int64) {
	stop, done := make(chan struct{}), make(chan int64)
	go func() {
		var highest int64
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			highest = max(highest, peakMemory(pid))
			select {
			case <-tick.C:
			case <-stop:
				done <- highest
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-done
	}
}

// peakMemory is what Linux says about a process, in bytes; 0 elsewhere, and
// when it is gone.
func peakMemory(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	value, _, _ := bytes.Cut(rest, []byte("kB"))
	kib, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
	return kib << 10
}
