package main

import (
	"fmt"

	"github.com/cotterpin/cotter"
)

// tally collects information about the result of a run from its events.
type tally struct {
	modules   map[string]cotter.ModuleInstalled   // by key
	providers map[string]cotter.ProviderInstalled // by address
	archives  map[string]int64                    // the sizes of fetched provider archives in bytes, by providerName
	restored  map[string]bool                     // the keys of modules that differed from the lock
	lock      *cotter.LockFileWritten
	fetched   int
	bytes     int64
}

func newTally() *tally {
	return &tally{
		modules:   make(map[string]cotter.ModuleInstalled),
		providers: make(map[string]cotter.ProviderInstalled),
		archives:  make(map[string]int64),
		restored:  make(map[string]bool),
	}
}

func (t *tally) event(event cotter.Event) {
	switch e := event.(type) {
	case cotter.LockFileWritten:
		t.lock = &e
	case cotter.FetchDone:
		t.fetched++
		t.bytes += e.Bytes
	case cotter.ModuleInstalled:
		t.modules[e.Path.String()] = e
	case cotter.ProviderInstalled:
		t.providers[e.Provider.String()] = e
	case cotter.Warning:
		if e.Kind == cotter.WarningRestored {
			t.restored[e.Path.String()] = true
		}
	case cotter.ProviderProgress:
		t.archives[providerName(e)] = e.Done
	}
}

// add adds the fetched packages of another tally. A provider archive that both have counts
// once.
func (t *tally) add(other *tally) {
	t.fetched += other.fetched
	t.bytes += other.bytes
	for name, bytes := range other.archives {
		t.archives[name] = max(t.archives[name], bytes)
	}
}

// fetchedText describes the number and size of fetched packages. It returns "" if nothing was
// fetched.
func (t *tally) fetchedText() string {
	packages, bytes := t.fetched+len(t.archives), t.bytes
	for _, n := range t.archives {
		bytes += n
	}
	if packages == 0 {
		return ""
	}
	return fmt.Sprintf("%s fetched (%s)", count(packages, "package"), size(bytes))
}

// size formats a number of bytes in decimal units, such as "1.5 MB".
func size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value := float64(bytes)
	unit := ""
	for _, unit = range units {
		if value /= 1000; value < 999.5 {
			break
		}
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}
