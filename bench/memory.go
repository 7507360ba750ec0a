package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchMemory samples the peak memory of a process until the returned function is called. The resource
// usage after the end includes the memory of this process when it started the other one.
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

// peakMemory is in bytes, as Linux reports it; 0 on other systems, and if the process has ended.
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
