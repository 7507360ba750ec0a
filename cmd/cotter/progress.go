package main

import (
	"fmt"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
)

// progress shows the events of an installation: one JSON object each with --json, live
// lines where a person watches, and plain lines with -v. Without any of them it only
// counts, for the summary at the end.
type progress struct {
	*tally
	out   *output
	live  *live             // nil if no person watches
	names map[string]string // what the lock decided, by key, until it is verified
}

func newProgress(out *output) *progress {
	p := &progress{tally: newTally(), out: out, names: make(map[string]string)}
	if out.interactive() && !out.quiet {
		p.live = startLive(out.stdout, out.started)
	}
	return p
}

// event is an Installer's OnEvent.
func (p *progress) event(event cotter.Event) {
	p.tally.event(event)
	if p.out.json {
		if value := jsonEvent(event); value != nil {
			_ = p.out.writeJSON(value) // a closed stdout shows at the end
		}
		return
	}
	if p.live != nil {
		p.live.event(event)
	}
	switch e := event.(type) {
	case cotter.Warning:
		p.above(func() { p.out.warnf("%s", warningText(e)) })
	case cotter.Waiting:
		p.note("Waiting for another process that works on this project...\n")
	case cotter.WaitingForFetch:
		p.note("Waiting for another process that fetches %s...\n", e.Package)
	default:
		if p.out.verbose {
			p.tell(event)
		}
	}
}

// tell prints a line for an event, in the order of time.
func (p *progress) tell(event cotter.Event) {
	switch e := event.(type) {
	case cotter.Resolved:
		name := fmt.Sprintf("%s in %s", e.Path, addrs.Redact(e.Source.ForDisplay()))
		if e.Version != "" {
			name += " " + e.Version
		}
		if e.Locked {
			p.names[e.Path.String()] = name
			return
		}
		p.note("- %s\n", name)
	case cotter.HashVerified:
		p.note("- %s\n  Verified checksum matches lock file\n", p.names[e.Path.String()])
	case cotter.FetchDone:
		p.note("  fetched %s (%s)\n", e.Package, size(e.Bytes))
	case cotter.ModuleInstalled:
		p.note("  placed %s in %s\n", e.Path, e.Dir)
	case cotter.ProviderInstalled:
		p.note("- provider %s %s%s\n", e.Provider.ForDisplay(), e.Version, signedBy(e))
	}
}

// note prints a line for people who want to know, now.
func (p *progress) note(format string, args ...any) {
	p.above(func() { p.out.notef(format, args...) })
}

// above prints above the live lines.
func (p *progress) above(print func()) {
	if p.live != nil {
		p.live.above(print)
		return
	}
	print()
}

// end clears the live lines away.
func (p *progress) end() {
	if p.live != nil {
		p.live.end()
	}
}

// providerName names the package of a provider in the live lines.
func providerName(e cotter.ProviderProgress) string {
	name := fmt.Sprintf("provider %s %s", e.Provider.ForDisplay(), e.Version)
	if e.Platform != addrs.CurrentPlatform() {
		name += " " + e.Platform.String()
	}
	return name
}

// warning is an Installer's OnEvent for commands that show no progress.
func (o *output) warning(event cotter.Event) {
	if warning, ok := event.(cotter.Warning); ok {
		o.warnf("%s", warningText(warning))
	}
}

func warningText(e cotter.Warning) string {
	text := e.Message
	if !e.Path.IsRoot() {
		text = "module " + e.Path.String() + ": " + text
	}
	if remedy := warningRemedy(e.Kind); remedy != "" {
		text += "\n" + remedy
	}
	return text
}
