package view

import "time"

// Sample is a transfer as the live lines show it, measured at a time.
type Sample struct {
	Name, Phase       string
	Done, Total, Rate int64
	Since             time.Time
}

const Fetching, Unpacking, Waiting = fetching, unpacking, waiting

// LiveLines returns the live lines of a run that began at a time.
func LiveLines(started time.Time, fetched, resolved int, active []Sample, width, height int, now time.Time) []string {
	p := &progress{started: started, fetched: fetched, resolved: resolved}
	for _, s := range active {
		p.active = append(p.active, &transfer{name: s.Name, phase: s.Phase, done: s.Done, total: s.Total, rate: s.Rate, since: s.Since})
	}
	return p.lines(width, height, now)
}

// Rates returns what is shown as the rate, at a time, of a transfer with this many bytes at each time.
func Rates(done map[time.Time]int64, began time.Time, shown ...time.Time) (rates []string) {
	t := &transfer{phase: fetching, since: began}
	for at := began; len(done) > 0; at = at.Add(100 * time.Millisecond) {
		t.progress(fetching, done[at], 0, at)
		delete(done, at)
	}
	for _, at := range shown {
		rates = append(rates, t.rateText(at))
	}
	return rates
}

var Shorten = shorten
