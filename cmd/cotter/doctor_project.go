package main

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/lockfile"
)

// lookAtProject also collects the hosts that the configuration and the lock need.
func (d *doctor) lookAtProject(ctx context.Context) {
	d.begin("Project")
	var err error
	if d.config, err = cliConfig(ctx, d.req.Dialect, func(text string) { d.note("%s", text) }); err != nil {
		d.failed(err)
	}
	if dir, empty := withoutConfiguration(ctx, d.req); empty {
		d.note("there is no configuration in %s", dir)
		return
	}
	req := d.req
	req.KeepCredentials = true
	result, err := d.in.Load(ctx, req.Project, installer.LoadOptions{BestEffort: true, Providers: true})
	if err != nil {
		d.failed(err)
	}
	if result == nil {
		return
	}
	d.tellTool(result)
	d.ignoredLocks(ctx)
	for _, m := range result.Modules {
		d.needModule(ctx, m.Source, m.Package.Package, callingPackage(result, m.Path))
	}
	lock, _ := installer.ReadLock(ctx, d.req.Project) // nil after an error, which Load returns too
	for _, u := range result.Unresolved {
		if u.Source == nil || advice.Is[*installer.ConfigError](u.Err) {
			d.failed(u.Err)
			continue
		}
		locked, _ := lock.Module(u.Path.String())
		d.needModule(ctx, u.Source, locked.Package.Package, callingPackage(result, u.Path))
	}
	for _, p := range result.Providers {
		if p.Address.IsBuiltIn() {
			continue
		}
		d.lockedPlatforms(p)
		from := new(url.URL) // only the lock has it
		for _, by := range p.RequiredBy {
			if from = callingPackage(result, by.Path.Child("")); from == nil {
				break
			}
		}
		d.needProvider(ctx, p.Address, from)
	}
}

// callingPackage returns where the package came from that has a call; nil if the call is in the project's own modules.
func callingPackage(result *installer.Result, path addrs.Module) (from *url.URL) {
	depth := -1
	for _, m := range result.Modules {
		isAbove := len(m.Path) < len(path) && m.Path.String() == path[:len(m.Path)].String()
		if !isAbove || !records.HasPackage(m) || len(m.Path) <= depth {
			continue
		}
		depth, from = len(m.Path), new(url.URL)
		pkg := m.Package.Package
		if s, ok := m.Source.(addrs.ModuleSourceRemote); ok && pkg.IsZero() {
			pkg = s.Package
		}
		if at, err := pkg.Location(); err == nil {
			from = at.URL()
		}
	}
	return from
}

// lockedPlatforms is about entries that were made without the registry, behind a mirror or a plugin cache. Those have
// no zh: hash, which registries give for all platforms.
func (d *doctor) lockedPlatforms(p installer.Provider) {
	ofAll := slices.ContainsFunc(p.Hashes, func(h hashing.Hash) bool { return h.Scheme() == "zh" })
	if len(p.Hashes) > 0 && !ofAll && p.Evidence.IsZero() {
		d.note("%s %s: the lock has only h1: hashes, each for one platform, and nothing on this machine confirms that one is for %s",
			p.Address.ForDisplay(), p.Version, addrs.CurrentPlatform())
	}
}

// ignoredLocks is about the stock tools' lock and, if there is one, that of the modules.
func (d *doctor) ignoredLocks(ctx context.Context) {
	for _, name := range lists.Distinct([]string{cmp.Or(d.req.LockFile, lockfile.Name), lockfile.Name}) {
		if rule := repository.IgnoredLock(ctx, d.req.Project, name); rule != nil {
			file := rule.File
			if !d.json {
				file = d.ShownFile(d.req.Dir, file)
			}
			d.note("git ignores %s: %s:%d", name, file, rule.Line)
		}
	}
}

func (d *doctor) tellTool(result *installer.Result) {
	dialect, signs := result.Dialect, result.DialectSigns
	switch {
	case d.req.Dialect != installer.DialectAuto:
		d.ok("for %s: set by a flag or the settings", dialect)
	case len(signs) == 0 && len(d.req.Tools) == 1:
		d.ok("for %s: it is the only one in PATH, and nothing indicates another tool", dialect)
	case len(signs) == 0:
		d.ok("for tofu: nothing indicates another tool")
	default:
		d.ok("for %s: %s", dialect, signs[0].What)
	}
	for _, s := range signs {
		if s.Dialect != dialect {
			d.note("a sign of %s: %s", s.Dialect, s.What)
		}
	}
}
