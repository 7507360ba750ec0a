package main

import (
	"fmt"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/sanitize"
)

// progress shows the events of an installation: one JSON object each with
// --json, bars while packages are fetched where a person watches, plain lines
// otherwise.
type progress struct {
	out     *output
	bars    *mpb.Progress
	fetches map[string]*mpb.Bar
	names   map[string]string // what the lock decided, by key, until it is verified

	fetched, placed, verified, providers int
	lock                                 *cotter.LockFileWritten
}

func newProgress(out *output) *progress {
	p := &progress{out: out, fetches: make(map[string]*mpb.Bar), names: make(map[string]string)}
	if out.interactive() {
		p.bars = mpb.New(mpb.WithOutput(out.stdout), mpb.WithWidth(40))
	}
	return p
}

// event is an Installer's OnEvent.
func (p *progress) event(event cotter.Event) {
	p.tally(event)
	if p.out.json {
		if value := jsonEvent(event); value != nil {
			_ = p.out.writeJSON(value) // a closed stdout shows at the end
		}
		return
	}
	switch e := event.(type) {
	case cotter.Resolved:
		p.resolved(e)
	case cotter.HashVerified:
		p.line("- %s\n  Verified checksum matches lock file\n", p.names[e.Path.String()])
	case cotter.FetchStarted:
		p.startBar(e.Package)
	case cotter.FetchProgress:
		if bar := p.fetches[e.Package]; bar != nil {
			bar.SetTotal(e.Total, false)
			bar.SetCurrent(e.Done)
		}
	case cotter.FetchDone:
		if bar := p.fetches[e.Package]; bar != nil {
			bar.SetTotal(max(e.Bytes, 1), true)
		}
	case cotter.ProviderProgress:
		p.providerBar(e)
	case cotter.ProviderInstalled:
		p.line("- provider %s %s%s\n", e.Provider.ForDisplay(), e.Version, signedBy(e))
	case cotter.Waiting:
		p.line("Waiting for another process that works on this project...\n")
	case cotter.WaitingForFetch:
		p.line("Waiting for another process that fetches %s...\n", e.Package)
	case cotter.Warning:
		p.warning(e)
	}
}

func (p *progress) tally(event cotter.Event) {
	switch e := event.(type) {
	case cotter.LockFileWritten:
		p.lock = &e
	case cotter.FetchDone:
		p.fetched++
	case cotter.ModuleInstalled:
		p.placed++
	case cotter.HashVerified:
		p.verified++
	case cotter.ProviderInstalled:
		p.providers++
	}
}

func (p *progress) resolved(e cotter.Resolved) {
	name := fmt.Sprintf("%s in %s", e.Path, addrs.Redact(e.Source.ForDisplay()))
	if e.Version != "" {
		name += " " + e.Version
	}
	if e.Locked {
		p.names[e.Path.String()] = name
		return
	}
	p.line("- %s\n", name)
}

func (p *progress) warning(e cotter.Warning) {
	text := warningText(e)
	if p.bars != nil {
		p.line("Warning: %s\n", lines(indented(text)))
		return
	}
	p.out.warnf("%s", text)
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

// line prints above the bars.
func (p *progress) line(format string, args ...any) {
	if p.bars == nil {
		p.out.printf(format, args...)
		return
	}
	fmt.Fprint(p.bars, escapef(format, args...))
}

func (p *progress) startBar(pkg string) {
	if p.bars == nil {
		return
	}
	p.fetches[pkg] = p.bars.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(sanitize.Escape(pkg)+" ")),
		mpb.AppendDecorators(decor.CurrentKibiByte("% .1f")),
	)
}

// providerBar shows how far the archive of a provider is.
func (p *progress) providerBar(e cotter.ProviderProgress) {
	name := fmt.Sprintf("provider %s %s", e.Provider.ForDisplay(), e.Version)
	if e.Platform != addrs.CurrentPlatform() {
		name += " " + e.Platform.String()
	}
	if p.fetches[name] == nil {
		p.startBar(name)
	}
	if bar := p.fetches[name]; bar != nil {
		bar.SetTotal(max(e.Total, e.Done, 1), e.Unpacking)
		bar.SetCurrent(e.Done)
	}
}

// end clears the bars away.
func (p *progress) end() {
	if p.bars == nil {
		return
	}
	for _, bar := range p.fetches {
		bar.Abort(true)
	}
	p.bars.Wait()
}

// modulesFor is how many modules were installed, and for which stock tool if
// anything depends on that.
func modulesFor(result *cotter.Result) string {
	modules := count(len(result.Modules), "module")
	if result.DialectMatters {
		modules += " for " + result.Dialect.String()
	}
	return modules
}

// installed prints the end of an installation. done is its type in JSON.
func (o *output) installed(done string, result *cotter.Result, p *progress) error {
	if o.json {
		return o.writeJSON(jsonResult(done, result))
	}
	if len(result.Modules)+len(result.Providers) == 0 {
		o.printf("The configuration calls no modules.\n")
		return nil
	}
	o.printf("\n")
	if len(result.Modules) > 0 {
		o.printf("%s: %s, %s, %s.\n", modulesFor(result),
			count(p.fetched, "package")+" fetched",
			fmt.Sprintf("%d placed", p.placed),
			fmt.Sprintf("%d verified against the lock", p.verified))
	}
	if n := len(result.Providers); n > 0 {
		o.printf("%s: %d installed, %d already in place.\n", count(n, "provider"), p.providers, n-p.providers)
	}
	switch {
	case p.lock != nil && p.lock.Created:
		o.printf("\nCotter has created a lock file %s to record the versions.\n"+
			"Include this file in your version control repository.\n", p.lock.File)
	case p.lock != nil:
		o.printf("\nCotter has changed %s; commit it with your configuration:\n", p.lock.File)
		o.changes(result.LockChanges)
		o.providerChanges(result.ProviderChanges)
	}
	return nil
}
