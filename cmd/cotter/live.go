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
	// redrawEvery is how often the live lines are drawn.
	redrawEvery = 100 * time.Millisecond
	// patience is how long a run takes before they are drawn at all: most runs are over
	// by then.
	patience = 200 * time.Millisecond
	// rateOver is the time over which a rate is measured.
	rateOver = time.Second
)

// live is the lines at the bottom of a terminal that say what is going on: one for each
// package that is under way, and one for all.
type live struct {
	out     io.Writer
	stop    chan struct{}
	stopped chan struct{}

	mu     sync.Mutex // guards what follows
	view   view
	screen *cwriter.Writer
	shown  bool // there are lines on the screen
}

// startLive begins to draw; end ends it.
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

// toLineStart moves the cursor to the start of its line, where it is unless the user has
// typed something, such as Ctrl-C.
func (l *live) toLineStart() { _, _ = io.WriteString(l.out, "\r") }

// above prints something above the lines.
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

// event notes an event.
func (l *live) event(event cotter.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view.event(event, time.Now())
}

// event notes what an event says about a package.
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

// transfer returns the package of a name, which is added if it is new.
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
