package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/repository"
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
		d.needModule(m.Source, m.Package.Package, isOwnCall(result, m.Path))
	}
	lock, _ := installer.ReadLock(ctx, d.req.Project) // nil after an error, which Load returns too
	for _, u := range result.Unresolved {
		if u.Source == nil || is[*installer.ConfigError](u.Err) {
			d.failed(u.Err)
			continue
		}
		locked, _ := lock.Module(u.Path.String())
		d.needModule(u.Source, locked.Package.Package, isOwnCall(result, u.Path))
	}
	for _, p := range result.Providers {
		if !p.Address.IsBuiltIn() {
			d.needProvider(ctx, p.Address, slices.ContainsFunc(p.RequiredBy, func(by installer.ProviderRequirement) bool { return isOwnCall(result, by.Path.Child("")) }))
		}
	}
}

// isOwnCall reports whether a module is called by the project's own modules and not by a package.
func isOwnCall(result *installer.Result, path addrs.Module) bool {
	for _, m := range result.Modules {
		isAbove := len(m.Path) < len(path) && m.Path.String() == path[:len(m.Path)].String()
		if isAbove && hasPackage(m) {
			return false
		}
	}
	return true
}

// ignoredLocks is about the stock tools' lock and, if there is one, that of the modules.
func (d *doctor) ignoredLocks(ctx context.Context) {
	for _, name := range distinct([]string{cmp.Or(d.req.LockFile, stockLockName), stockLockName}) {
		if rule := repository.IgnoredLock(ctx, d.req.Project, name); rule != nil {
			file := rule.File
			if !d.json {
				file = d.shownFile(d.req.Dir, file)
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
