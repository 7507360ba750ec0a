package main

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/cotterpin/cotter"
)

const (
	// redrawEvery is the time between two drawings of the live lines.
	redrawEvery = 100 * time.Millisecond
	// patience is the time before the lines are drawn at all. Most runs end earlier.
	patience = 200 * time.Millisecond
	// rateOver is the time over which a transfer rate is measured.
	rateOver = time.Second
)

// live draws lines at the bottom of a terminal that show the progress: one line for each
// package in transfer, and a line for the whole run.
type live struct {
	out     io.Writer
	stop    chan struct{}
	stopped chan struct{}

	mu     sync.Mutex // guards the fields below
	view   view
	screen *cwriter.Writer
	shown  bool // whether there are lines on the screen
}

// startLive starts to draw. Call end to stop.
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

// draw replaces the lines.
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

// clear removes the lines.
func (l *live) clear() {
	if !l.shown {
		return
	}
	l.toLineStart()
	l.shown = l.screen.Flush(0) != nil
}

// toLineStart moves the cursor to the start of its line. The cursor is elsewhere only if the
// user has typed something, such as Ctrl-C.
func (l *live) toLineStart() { _, _ = io.WriteString(l.out, "\r") }

// above removes the lines and calls print, so that its output appears above the lines when
// they are drawn again.
func (l *live) above(print func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	print()
}

// end removes the lines for good.
func (l *live) end() {
	close(l.stop)
	<-l.stopped
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

// event updates the view with an event.
func (l *live) event(event cotter.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view.event(event, time.Now())
}

// event updates the view with an event about a package.
func (v *view) event(event cotter.Event, now time.Time) {
	switch e := event.(type) {
	case cotter.Resolved:
		v.resolved++
	case cotter.FetchStarted:
		v.transfer(e.Package, now).phase = fetching
	case cotter.FetchProgress:
		v.transfer(e.Package, now).progress(fetching, e.Done, e.Total, now)
	case cotter.WaitingForFetch:
		v.transfer(e.Package, now).phase = waiting
	case cotter.FetchDone:
		v.end(e.Package)
	case cotter.ProviderProgress:
		phase := fetching
		if e.Unpacking {
			phase = unpacking
		}
		v.transfer(providerName(e), now).progress(phase, e.Done, e.Total, now)
	case cotter.ProviderInstalled:
		v.end("provider " + e.Provider.ForDisplay() + " " + e.Version)
	}
}

// transfer returns the transfer with a name. It adds the transfer if it is new.
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

// end removes the transfer with a name, and counts it as fetched.
func (v *view) end(name string) {
	before := len(v.active)
	v.active = slices.DeleteFunc(v.active, func(t *transfer) bool { return t.name == name })
	v.fetched += before - len(v.active)
}

// progress updates a transfer, and its rate if it was measured long enough.
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
