package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/bench/internal/report"
)

// thisMachine describes the machine; not all of it is known on systems other than Linux. Names
// of the machine and its users are not among it.
func thisMachine(ctx context.Context) report.Machine {
	kib, _, _ := strings.Cut(field("/proc/meminfo", "MemTotal:"), " ")
	memory, _ := strconv.ParseInt(kib, 10, 64)
	system := []string{runtime.GOOS + "/" + runtime.GOARCH}
	if name := strings.Trim(field("/etc/os-release", "PRETTY_NAME="), `"`); name != "" {
		system = append(system, name)
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		// What is behind the hyphen says who built it.
		number, _, _ := strings.Cut(string(bytes.TrimSpace(release)), "-")
		system = append(system, "kernel "+number)
	}
	return report.Machine{
		CPU:        cmp.Or(strings.TrimLeft(field("/proc/cpuinfo", "model name"), ": \t"), "unknown"),
		Cores:      runtime.NumCPU(),
		Memory:     memory << 10,
		System:     strings.Join(system, ", "),
		Go:         runtime.Version(),
		Git:        strings.TrimPrefix(firstLine(ctx, "git", "version"), "git version "),
		LoadBefore: loadAverage(),
	}
}

// field is what is behind a name in the first line that begins with it.
func field(file, name string) string {
	text, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer text.Close()
	for lines := bufio.NewScanner(text); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), name); found {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// loadAverage is that of the last minute, or -1.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	var load float64
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		return -1
	}
	return load
}
