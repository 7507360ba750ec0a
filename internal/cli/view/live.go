package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

const (
	fetching  = "fetching"
	unpacking = "unpacking"
	waiting   = "waiting" // for another process
)

// progress is the content of the live lines.
type progress struct {
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

// Lines are shorter than the width, because some terminals begin a new line after the last column.
func (p *progress) lines(width, height int, now time.Time) []string {
	width = max(width-1, 10)
	rows := p.active
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
	return append(lines, shorten(p.summary(now), width))
}

func (p *progress) summary(now time.Time) string {
	elapsed := Seconds(now.Sub(p.started))
	if p.fetched+len(p.active) == 0 {
		return fmt.Sprintf("Resolving: %s, %s", Count(p.resolved, "module"), elapsed)
	}
	return fmt.Sprintf("%d fetched, %d in progress, %s", p.fetched, len(p.active), elapsed)
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
		columns = fmt.Sprintf("%6s %14s", Size(t.done), how)
		if width >= percentWidth {
			columns = fmt.Sprintf("%6s %4s %14s", Size(t.done), t.percent(), how)
		}
	}
	room := max(width-len([]rune(columns))-1, 1)
	name := shorten(shortName(t.name), room)
	return name + strings.Repeat(" ", room-ColumnsOf(name)+1) + columns
}

func (t *transfer) amount() string {
	if t.total <= 0 {
		return Size(t.done)
	}
	return Size(t.done) + " of " + Size(t.total)
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
		return Size(t.rate) + "/s"
	case over >= rateOver/4: // no rate was measured yet, or no progress was reported since
		return Size(int64(float64(t.done-t.base)/over.Seconds())) + "/s"
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

const (
	redrawEvery = 100 * time.Millisecond
	// patience is the time before the lines are drawn at all. Most runs end earlier.
	patience = 200 * time.Millisecond
	rateOver = time.Second // for measuring a rate
)

// Live draws lines at the bottom of a terminal: one for each package in transfer, and one for the whole run.
type Live struct {
	out     io.Writer
	stop    chan struct{}
	stopped chan struct{}

	mu       sync.Mutex // guards the fields below
	progress progress
	screen   *cwriter.Writer
	shown    bool // whether there are lines on the screen
}

func StartLive(out io.Writer, started time.Time) *Live {
	l := &Live{
		out: out, screen: cwriter.New(out), progress: progress{started: started},
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go l.run()
	return l
}

func (l *Live) run() {
	defer close(l.stopped)
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case now := <-tick.C:
			if now.Sub(l.progress.started) >= patience {
				l.mu.Lock()
				l.draw(now)
				l.mu.Unlock()
			}
		}
	}
}

func (l *Live) draw(now time.Time) {
	width, height, err := l.screen.GetTermSize()
	if err != nil {
		return
	}
	lines := l.progress.lines(width, height, now)
	l.toLineStart()
	for _, line := range lines {
		_, _ = io.WriteString(l.screen, line+"\n")
	}
	l.shown = l.screen.Flush(len(lines)) == nil
}

func (l *Live) clear() {
	if !l.shown {
		return
	}
	l.toLineStart()
	l.shown = l.screen.Flush(0) != nil
}

// toLineStart is needed if the user has typed something, such as Ctrl-C.
func (l *Live) toLineStart() { _, _ = io.WriteString(l.out, "\r") }

// Above calls print without the lines, so that its output appears above them.
func (l *Live) Above(print func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	print()
}

func (l *Live) End() {
	close(l.stop)
	<-l.stopped
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *Live) Event(ev event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress.event(ev, time.Now())
}

func (p *progress) event(ev event.Event, now time.Time) {
	switch e := ev.(type) {
	case event.Resolved:
		if e.Package != "" { // not a local module
			p.resolved++
		}
	case event.FetchStarted:
		p.transfer(e.Package, now).phase = fetching
	case event.FetchProgress:
		p.transfer(e.Package, now).progress(fetching, e.Done, e.Total, now)
	case event.WaitingForFetch:
		p.transfer(e.Package, now).phase = waiting
	case event.FetchDone:
		p.end(e.Package)
	case event.ProviderProgress:
		phase := fetching
		if e.Unpacking {
			phase = unpacking
		}
		p.transfer(ProviderName(e), now).progress(phase, e.Done, e.Total, now)
	case event.ProviderInstalled:
		p.end("provider " + e.Provider.ForDisplay() + " " + e.Version.String())
	}
}

func (p *progress) transfer(name string, now time.Time) *transfer {
	for _, t := range p.active {
		if t.name == name {
			return t
		}
	}
	t := &transfer{name: name, since: now}
	p.active = append(p.active, t)
	return t
}

func (p *progress) end(name string) {
	before := len(p.active)
	p.active = slices.DeleteFunc(p.active, func(t *transfer) bool { return t.name == name })
	p.fetched += before - len(p.active)
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

// ProviderName returns the name of a provider package for the live lines, with another platform.
func ProviderName(e event.ProviderProgress) string {
	name := fmt.Sprintf("provider %s %s", e.Provider.ForDisplay(), e.Version)
	if e.Platform != addrs.CurrentPlatform() {
		name += " " + e.Platform.String()
	}
	return name
}
