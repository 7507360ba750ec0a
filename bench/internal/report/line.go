package report

import (
	"fmt"
	"strings"
	"time"
)

// line is a row of the table.
func (r Row) line(rows []Row) string {
	cells := []string{r.State, r.tool(), r.time(), r.timesOurs(rows), "", "", "", "", "", ""}
	if r.Kind != Baseline {
		cells[4], cells[5] = duration(r.CPU), fmt.Sprint(r.Requests)
		cells[7] = megabytes(r.Disk)
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
	for i := range cells {
		cells[i] = cell(cells[i])
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// tool is the name, with a label for what was not measured in full.
func (r Row) tool() string {
	if r.Sample == 0 {
		return r.Tool
	}
	return fmt.Sprintf("%s (**extrapolated**: a loop over %d of %d, multiplied)", r.Tool, r.Sample, r.Whole)
}

// time is the median and the extremes.
func (r Row) time() string {
	switch {
	case r.Runs == 0:
		return ""
	case r.Runs == 1:
		return duration(r.Median) + " (one run)"
	}
	return fmt.Sprintf("%s (%s to %s)", duration(r.Median), duration(r.Lowest), duration(r.Highest))
}

// timesOurs is how many times longer the tool needed than cotter did.
func (r Row) timesOurs(rows []Row) string {
	ours, found := oursIn(rows, r.State)
	if !found || r.Kind == Ours || r.Runs == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ratio(r, ours))
}

// duration has three digits or whole milliseconds.
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

// cell is text that cannot end a table's cell.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s) }
