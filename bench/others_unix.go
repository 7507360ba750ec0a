//go:build unix

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// watchOthers begins to watch the work of the machine that is not of this
// process and of what it starts. The function that it returns says how many
// processors that took on average; -1 if the system does not say.
func watchOthers() func() float64 {
	start, before := time.Now(), ownTime()
	busy, known := busyTime()
	return func() float64 {
		now, stillKnown := busyTime()
		if !known || !stillKnown {
			return -1
		}
		others := now - busy - (ownTime() - before)
		return max(0, others.Seconds()/time.Since(start).Seconds())
	}
}

// ownTime is the processor time of this process and of all children that ended.
func ownTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if syscall.Getrusage(who, &usage) == nil {
			sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
	return sum
}

// busyTime is the time that all processors together have worked, out of the
// first line of Linux's /proc/stat (proc(5)): hundredths of a second in user
// mode, nice, in the system, idle, waiting, in interrupts (two kinds) and for
// other virtual machines.
func busyTime() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	const idle, waiting, steal = 4, 5, 8 // as fields, behind the name
	var sum time.Duration
	for i, field := range strings.Fields(line) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || i == idle || i == waiting || i > steal {
			continue
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum, sum > 0
}
