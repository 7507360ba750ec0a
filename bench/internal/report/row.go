package report

import (
	"fmt"
	"strings"
	"time"
)

type World struct {
	Name  string
	About string   // a sentence without its full stop
	Notes []string // further sentences
	Rows  []Row
	Goals []Goal
}

type Row struct {
	State string
	Tool  string
	Kind  Kind
	// Runs have a median and extremes.
	Runs                    int
	Median, Lowest, Highest time.Duration
	CPU                     time.Duration // median of the command and all that it starts
	// Requests reached the servers; Discovery is their number for service discovery, and Repeats that of
	// the most frequent request.
	Requests, Discovery, Repeats int
	Received                     int64 // bytes that the servers sent
	// Disk is what .terraform takes, and Cache cotter's cache, in bytes.
	Disk, Cache int64
	Peak        int64 // peak memory of the process in bytes; 0 if it is not known
	// Sample is the number of parts out of Whole that were run, from which values are extrapolated; 0 means
	// all.
	Sample, Whole int
}

type Kind int

// A baseline is the least that the work costs.
const (
	Ours Kind = iota
	Stock
	Baseline
)

// Section returns a world's table and goals in Markdown.
func Section(w World) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s.\n", w.Name, w.About)
	for _, note := range w.Notes {
		fmt.Fprintf(&b, "%s\n", note)
	}
	b.WriteString("\n| state | tool | time | ratio | CPU | requests | received | disk | cache | memory |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range w.Rows {
		b.WriteString(r.line(w.Rows))
	}
	b.WriteString("\n")
	for _, g := range w.Goals {
		fmt.Fprintf(&b, "- %s: %s\n", g.Text, g.verdict(w.Rows))
	}
	return b.String()
}

func (r Row) line(rows []Row) string {
	cells := []string{r.State, r.Tool, "", "", "", "", "", "", "", ""}
	if r.Sample > 0 {
		cells[1] += fmt.Sprintf(" (**extrapolated**: a loop over %d of %d, multiplied)", r.Sample, r.Whole)
	}
	if r.Runs > 0 {
		cells[2] = fmt.Sprintf("%s (%s to %s)", duration(r.Median), duration(r.Lowest), duration(r.Highest))
	}
	if ours, found := oursIn(rows, r.State); found && r.Kind != Ours && r.Runs > 0 {
		cells[3] = fmt.Sprintf("%.2f", ratio(r, ours))
	}
	if r.Kind != Baseline {
		cells[4], cells[5], cells[7] = duration(r.CPU), fmt.Sprint(r.Requests), megabytes(r.Disk)
	}
	if r.Kind != Baseline || r.Received > 0 {
		cells[6] = megabytes(r.Received)
	}
	if r.Kind == Ours {
		cells[8] = megabytes(r.Cache)
	}
	if r.Peak > 0 {
		cells[9] = fmt.Sprintf("%d MiB", r.Peak>>20)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

func megabytes(n int64) string {
	if n < 10e6 {
		return fmt.Sprintf("%.2f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
