package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// table is the rows of one world.
func table(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d | %.1f MB | %.0f MB |\n", r.world, r.phase, r.tool,
			r.median.Round(time.Millisecond), ratio(r, rows), r.cpu.Round(time.Millisecond), r.requests, float64(r.disk)/1e6, float64(r.peak)/1e6)
	}
	return b.String()
}

// ratio is how many times longer the tool needed than cotter did.
func ratio(r row, rows []row) string {
	for _, other := range rows {
		if other.ours && other.world == r.world && other.phase == r.phase && !r.ours {
			return fmt.Sprintf("%.1f", float64(r.median)/float64(other.median))
		}
	}
	return ""
}

func report(rows []row, tools []tool, opts options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Performance\n\nMeasured %s on %d cores (%s/%s, %s) by\n\n\tgo run ./bench -delay %s -runs %d -write docs/performance.md\n\n",
		time.Now().Format("2006-01-02"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), opts.delay, opts.runs)
	b.WriteString("The servers are on the same machine and wait that long before each answer. Times are medians; the ratio\n" +
		"is the tool's time to cotter's. CPU is the time of the command and of what it starts. Disk is what is in `.terraform` afterwards, memory the peak of the process.\n\n")
	for _, t := range tools {
		if t.version != "" {
			fmt.Fprintf(&b, "- %s: %s\n", t.name, t.version)
		}
	}
	b.WriteString("\n| world | state | tool | time | ratio | CPU | requests | disk | memory |\n|---|---|---|---|---|---|---|---|---|\n")
	b.WriteString(table(rows))
	b.WriteString("\nThe worlds:\n\n")
	for _, w := range worlds() {
		fmt.Fprintf(&b, "- **%s**: %s.\n", w.name, w.about)
	}
	return b.String()
}
