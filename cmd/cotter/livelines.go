package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/sanitize"
)

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

// transfer is a package that is fetched or unpacked, here or by another process.
type transfer struct {
	name, phase string
	done, total int64 // in bytes; total is 0 if it is not known

	rate  int64     // the last measured rate, in bytes per second
	base  int64     // the value of done at the time since
	since time.Time // the start of the current measurement
}

// lines are shorter than the width, because some terminals begin a new line after the last column.
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

func (v *view) summary(now time.Time) string {
	elapsed := seconds(now.Sub(v.started))
	if v.fetched+len(v.active) == 0 {
		return fmt.Sprintf("Resolving: %s, %s", count(v.resolved, "module"), elapsed)
	}
	return fmt.Sprintf("%d fetched, %d in progress, %s", v.fetched, len(v.active), elapsed)
}

const (
	roomyWidth = 70
	wideWidth  = 100
	barWidth   = 20
	// percentWidth is the minimum width for a percentage on terminals that are not roomy.
	percentWidth = 48
)

// line has a name, followed by columns of fixed width.
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

func (t *transfer) amount() string {
	if t.total <= 0 {
		return size(t.done)
	}
	return size(t.done) + " of " + size(t.total)
}

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

// bar is only for a known total.
func (t *transfer) bar() string {
	full := int(min(t.done*barWidth/t.total, barWidth))
	return strings.Repeat("#", full) + strings.Repeat("-", barWidth-full)
}

// shortName has neither scheme nor arguments.
func shortName(name string) string {
	name = strings.TrimPrefix(name, "git::")
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	name, _, _ = strings.Cut(name, "?")
	return sanitize.Escape(name)
}

// shorten puts "…" in place of the characters that do not fit in width columns. It keeps more of the end,
// because the end of an address says more.
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

// columnsOf counts terminal columns. Characters of wide scripts take two.
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

// seconds formats a duration as "4.2 s" or "2 min 5 s".
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

const (
	redrawEvery = 100 * time.Millisecond
	// patience is the time before the lines are drawn at all. Most runs end earlier.
	patience = 200 * time.Millisecond
	rateOver = time.Second // for measuring a rate
)

// live draws lines at the bottom of a terminal: one for each package in transfer, and one for the whole run.
type live struct {
	out     io.Writer
	stop    chan struct{}
	stopped chan struct{}

	mu     sync.Mutex // guards the fields below
	view   view
	screen *cwriter.Writer
	shown  bool // whether there are lines on the screen
}

func startLive(out io.Writer, started time.Time) *live {
	l := &live{
		out: out, screen: cwriter.New(out), view: view{started: started},
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go l.run()
	return l
}

func (l *live) run() {
	defer close(l.stopped)
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case now := <-tick.C:
			if now.Sub(l.view.started) >= patience {
				l.mu.Lock()
				l.draw(now)
				l.mu.Unlock()
			}
		}
	}
}

func (l *live) draw(now time.Time) {
	width, height, err := l.screen.GetTermSize()
	if err != nil {
		return
	}
	lines := l.view.lines(width, height, now)
	l.toLineStart()
	for _, line := range lines {
		_, _ = io.WriteString(l.screen, line+"\n")
	}
	l.shown = l.screen.Flush(len(lines)) == nil
}

func (l *live) clear() {
	if !l.shown {
		return
	}
	l.toLineStart()
	l.shown = l.screen.Flush(0) != nil
}

// toLineStart is needed if the user has typed something, such as Ctrl-C.
func (l *live) toLineStart() { _, _ = io.WriteString(l.out, "\r") }

// above calls print without the lines, so that its output appears above them.
func (l *live) above(print func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	print()
}

func (l *live) end() {
	close(l.stop)
	<-l.stopped
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *live) event(event installer.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view.event(event, time.Now())
}

func (v *view) event(ev installer.Event, now time.Time) {
	switch e := ev.(type) {
	case event.Resolved:
		if e.Package != "" { // not a local module
			v.resolved++
		}
	case event.FetchStarted:
		v.transfer(e.Package, now).phase = fetching
	case event.FetchProgress:
		v.transfer(e.Package, now).progress(fetching, e.Done, e.Total, now)
	case event.WaitingForFetch:
		v.transfer(e.Package, now).phase = waiting
	case event.FetchDone:
		v.end(e.Package)
	case event.ProviderProgress:
		phase := fetching
		if e.Unpacking {
			phase = unpacking
		}
		v.transfer(providerName(e), now).progress(phase, e.Done, e.Total, now)
	case event.ProviderInstalled:
		v.end("provider " + e.Provider.ForDisplay() + " " + e.Version.String())
	}
}

func (v *view) transfer(name string, now time.Time) *transfer {
	for _, t := range v.active {
		if t.name == name {
			return t
		}
	}
	t := &transfer{name: name, since: now}
	v.active = append(v.active, t)
	return t
}

func (v *view) end(name string) {
	before := len(v.active)
	v.active = slices.DeleteFunc(v.active, func(t *transfer) bool { return t.name == name })
	v.fetched += before - len(v.active)
}

func (t *transfer) progress(phase string, done, total int64, now time.Time) {
	if phase != t.phase || done < t.done {
		t.since, t.base, t.rate = now, done, 0
	}
	t.phase, t.done, t.total = phase, done, total
	if over := now.Sub(t.since); over >= rateOver {
		t.rate = int64(float64(done-t.base) / over.Seconds())
		t.since, t.base = now, done
	}
}
