package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/sanitize"
)

// The phases of a transfer.
const (
	fetching  = "fetching"
	unpacking = "unpacking"
	waiting   = "waiting" // for another process
)

// view is the content of the live lines.
type view struct {
	started           time.Time
	active            []*transfer // in the order in which they began
	fetched, resolved int
}

// transfer is a package that is being fetched or unpacked, or that another process is
// fetching.
type transfer struct {
	name, phase string
	done, total int64 // in bytes; total is 0 if it is not known

	rate  int64     // the last measured rate, in bytes per second
	base  int64     // the value of done at the time since
	since time.Time // the start of the current measurement
}

// lines returns the lines for a terminal of the given size. Each line is shorter than the
// width, because some terminals begin a new line after the last column.
func (v *view) lines(width, height int, now time.Time) []string {
	width = max(width-1, 10)
	rows := v.active
	hidden := max(len(rows)-max(height-2, 1), 0) // one line is for the summary, and one for the cursor
	if hidden > 0 {
		hidden++ // the line with the number of hidden rows needs a row too
	}
	var lines []string
	for _, t := range rows[:len(rows)-min(hidden, len(rows))] {
		lines = append(lines, t.line(width, now))
	}
	if hidden > 0 {
		lines = append(lines, shorten(fmt.Sprintf("... and %d more", hidden), width))
	}
	return append(lines, shorten(v.summary(now), width))
}

// summary returns the line for the whole run.
func (v *view) summary(now time.Time) string {
	elapsed := seconds(now.Sub(v.started))
	if v.fetched+len(v.active) == 0 {
		return fmt.Sprintf("Resolving: %s, %s", count(v.resolved, "module"), elapsed)
	}
	return fmt.Sprintf("%d fetched, %d under way, %s", v.fetched, len(v.active), elapsed)
}

// The minimum widths of terminals for lines with more columns, and the width of the bar.
const (
	roomyWidth = 70
	wideWidth  = 100
	barWidth   = 20
	// percentWidth is the minimum width for a percentage on terminals that are not roomy.
	percentWidth = 48
)

// line returns the line for a transfer: its name, followed by columns of fixed width.
func (t *transfer) line(width int, now time.Time) string {
	var columns string
	switch rate := t.rateText(now); {
	case width >= wideWidth && t.total > 0:
		columns = fmt.Sprintf("%-*s  %16s  %8s  %-9s", barWidth, t.bar(), t.amount(), rate, t.phase)
	case width >= roomyWidth:
		columns = fmt.Sprintf("%16s  %8s  %-9s", t.amount(), rate, t.phase)
	default:
		how := t.phase
		if rate != "" {
			how = "fetch " + rate
		}
		columns = fmt.Sprintf("%6s %14s", size(t.done), how)
		if width >= percentWidth {
			columns = fmt.Sprintf("%6s %4s %14s", size(t.done), t.percent(), how)
		}
	}
	room := max(width-len([]rune(columns))-1, 1)
	name := shorten(shortName(t.name), room)
	return name + strings.Repeat(" ", room-columnsOf(name)+1) + columns
}

// amount returns the number of bytes done, with the total if it is known.
func (t *transfer) amount() string {
	if t.total <= 0 {
		return size(t.done)
	}
	return size(t.done) + " of " + size(t.total)
}

// percent returns the percentage done, or "" if the total is not known.
func (t *transfer) percent() string {
	if t.total <= 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", min(t.done*100/t.total, 100))
}

func (t *transfer) rateText(now time.Time) string {
	over := now.Sub(t.since)
	switch {
	case t.phase != fetching:
		return ""
	case t.rate > 0 && over < 2*rateOver:
		return size(t.rate) + "/s"
	case over >= rateOver/4: // no rate was measured yet, or no progress was reported since
		return size(int64(float64(t.done-t.base)/over.Seconds())) + "/s"
	}
	return ""
}

// bar returns a progress bar. The total must be known.
func (t *transfer) bar() string {
	full := int(min(t.done*barWidth/t.total, barWidth))
	return strings.Repeat("#", full) + strings.Repeat("-", barWidth-full)
}

// shortName returns the name of a package without its scheme and arguments.
func shortName(name string) string {
	name = strings.TrimPrefix(name, "git::")
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	name, _, _ = strings.Cut(name, "?")
	return sanitize.Escape(name)
}

// shorten returns text that takes at most width columns, with "…" in place of omitted
// characters. It keeps more of the end than of the start, because the end of an address says
// more.
func shorten(text string, width int) string {
	if columnsOf(text) <= width {
		return text
	}
	runes := []rune(text)
	head := max((width-1)/3, 0)
	front := string(runes[:min(head, len(runes))])
	back := runes
	for len(back) > 0 && columnsOf(front)+1+columnsOf(string(back)) > width {
		back = back[1:]
	}
	return front + "…" + string(back)
}

// columnsOf returns the number of terminal columns that text takes. Characters of wide
// scripts take two columns.
func columnsOf(text string) int {
	const firstWide, firstSymbol, lastSymbol = 0x1100, 0x2000, 0x2e7f
	n := 0
	for _, r := range text {
		n++
		if r >= firstWide && (r < firstSymbol || r > lastSymbol) {
			n++
		}
	}
	return n
}

// seconds formats a duration for people, such as "4.2 s" or "2 min 5 s".
func seconds(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 0.995:
		return fmt.Sprintf("%.2f s", s)
	case s < 9.95:
		return fmt.Sprintf("%.1f s", s)
	case s < 119.5:
		return fmt.Sprintf("%.0f s", s)
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
