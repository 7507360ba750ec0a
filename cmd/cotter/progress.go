package main

import (
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/view"
)

// progress shows the events of an installation as JSON, as live lines on an interactive terminal, or as plain
// lines with -v, and counts them for the summary.
type progress struct {
	*tally
	out   *output
	live  *view.Live        // nil if the output is not interactive
	names map[string]string // the descriptions of modules resolved from the lock, by key

	warnings originWarnings
}

func newProgress(out *output) *progress {
	p := &progress{tally: newTally(), out: out, names: make(map[string]string)}
	if out.interactive() && !out.quiet {
		p.live = view.StartLive(out.stdout, out.started)
	}
	return p
}

func (p *progress) event(ev installer.Event) {
	p.tally.event(ev)
	if p.out.json {
		if value := p.out.jsonEvent("", ev); value != nil {
			_ = p.out.writeJSON(value) // writing the result will return the error
		}
		return
	}
	if p.live != nil {
		p.live.Event(ev)
	}
	switch e := ev.(type) {
	case event.Warning:
		if !p.warnings.take("", e) {
			p.above(func() { p.out.printWarning("", e) })
		}
	case event.Waiting:
		p.note("Waiting for another process that is working on this project...\n")
	case event.WaitingForFetch:
		p.note("Waiting for another process that is fetching %s...\n", e.Package)
	default:
		if p.out.verbose {
			p.tell(ev)
		}
	}
}

func (p *progress) tell(ev installer.Event) {
	switch e := ev.(type) {
	case event.Resolved:
		if e.Package == "" {
			return // a local module
		}
		name := fmt.Sprintf("%s in %s", e.Path, addrs.Redact(e.Source.ForDisplay()))
		if !e.Version.IsZero() {
			name += " " + e.Version.String()
		}
		if e.Locked {
			p.names[e.Path.String()] = name
			return
		}
		p.note("- %s\n", name)
	case event.HashVerified:
		p.note("- %s\n  Verified checksum matches lock file\n", p.names[e.Path.String()])
	case event.FetchDone:
		p.note("  fetched %s (%s)\n", e.Package, view.Size(e.Bytes))
	case event.ModuleInstalled:
		p.note("  placed %s in %s\n", e.Path, e.Dir)
	case event.ProviderInstalled:
		p.note("- provider %s %s%s\n", e.Provider.ForDisplay(), e.Version, p.out.signedBy(e))
	}
}

func (p *progress) note(format string, args ...any) {
	p.above(func() { p.out.notef(format, args...) })
}

func (p *progress) above(print func()) {
	if p.live != nil {
		p.live.Above(print)
		return
	}
	print()
}

func (p *progress) end() {
	if p.live != nil {
		p.live.End()
	}
	p.warnings.print(p.out)
}

// tally collects the result of a run from its events.
type tally struct {
	modules   map[string]event.ModuleInstalled   // by key
	providers map[string]event.ProviderInstalled // by address
	archives  map[string]int64                   // the sizes of fetched provider archives in bytes, by providerName
	restored  map[string]bool                    // the keys of modules that differed from the lock
	locks     []event.LockFileWritten            // two if the modules have a lock of their own
	fetched   int
	bytes     int64
}

func newTally() *tally {
	return &tally{
		modules:   make(map[string]event.ModuleInstalled),
		providers: make(map[string]event.ProviderInstalled),
		archives:  make(map[string]int64),
		restored:  make(map[string]bool),
	}
}

func (t *tally) event(ev installer.Event) {
	switch e := ev.(type) {
	case event.LockFileWritten:
		same := func(lock event.LockFileWritten) bool { return lock.File == e.File }
		t.locks = append(slices.DeleteFunc(t.locks, same), e)
	case event.FetchDone:
		t.fetched++
		t.bytes += e.Bytes
	case event.ModuleInstalled:
		t.modules[e.Path.String()] = e
	case event.ProviderInstalled:
		t.providers[e.Provider.String()] = e
	case event.UnexpectedFiles:
		if e.Replaced {
			t.restored[e.Path.String()] = true
		}
	case event.ProviderProgress:
		name := view.ProviderName(e)
		t.archives[name] = max(t.archives[name], e.Done) // the event for unpacking has no number
	}
}

// add counts a provider archive that both have once.
func (t *tally) add(other *tally) {
	t.fetched += other.fetched
	t.bytes += other.bytes
	for name, bytes := range other.archives {
		t.archives[name] = max(t.archives[name], bytes)
	}
}

func (t *tally) fetchedText() string {
	if t.fetched+len(t.archives) == 0 {
		return ""
	}
	bytes := t.bytes
	for _, n := range t.archives {
		bytes += n
	}
	text := view.CountBoth(t.fetched, "package", len(t.archives), "provider") + " fetched"
	if bytes > 0 { // otherwise they were linked or copied
		text += fmt.Sprintf(" (%s)", view.Size(bytes))
	}
	return text
}
