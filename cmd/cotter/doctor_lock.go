package main

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/repository"
)

// lookAtLock reports what is in the lock, and what stock tools will say about it. For
// modules that are not installed, it takes the packages from the lock.
func (d *doctor) lookAtLock(ctx context.Context) {
	d.begin("Lock")
	name := d.req.LockFile
	if name == "" {
		name = stockLockName
	}
	lock, err := cotter.ReadLock(ctx, d.req)
	if err != nil {
		for _, m := range messages(err) {
			d.problem(m.Remedy, "%s", d.line(m))
		}
		return
	}
	modules, providers := lock.Modules(), lock.Providers()
	if absent(below(d.req.Dir, name)) {
		d.note("run `cotter install`, and commit the file", "there is no %s yet", name)
		return
	}
	if len(modules)+len(providers) == 0 {
		d.note("run `cotter install`, and commit the file", "%s locks nothing", name)
		return
	}
	d.ok("%s: %s, %s", name, count(len(modules), "module"), count(len(providers), "provider"))
	d.lockedPackages(modules)
	if len(modules) > 0 && name == stockLockName {
		d.note("`cotter lock --offline` puts them back; `lock_file` in cotter.hcl keeps them in a separate file",
			"tofu and terraform warn that they do not support module locks, and drop the module blocks when they rewrite the file")
	}
	d.otherRegistry(providers, d.takenOver(ctx))
	if name == stockLockName {
		for _, m := range fromDiagnostics("", lock.StockFaults(d.parser())) {
			d.problem("correct or remove it, and run `cotter install`", "stock tools refuse the file: %s", d.line(m))
		}
	}
}

// lockedPackages adds the packages from the lock to the needs that have no package yet.
func (d *doctor) lockedPackages(modules []lockfile.Module) {
	locked := make(map[string]string)
	for _, m := range modules {
		locked[m.Key] = m.Package
	}
	for i, n := range d.needs {
		if pkg := locked[n.key]; n.pkg.IsZero() && pkg != "" {
			d.needs[i].pkg = addrs.ParseModulePackage(pkg)
			d.needPackage(d.needs[i])
		}
	}
}

// parser returns a parser for addresses as the stock tool reads them.
func (d *doctor) parser() addrs.Parser {
	if d.req.Dialect == cotter.DialectTerraform {
		return addrs.Parser{DefaultRegistryHost: addrs.TerraformRegistryHost}
	}
	return addrs.Parser{}
}

// otherRegistry reports the providers from the default registry of the other stock tool. taken are
// the addresses in the lock whose versions the project's tool takes over.
func (d *doctor) otherRegistry(providers []lockfile.Provider, taken map[addrs.Provider]bool) {
	own, others := addrs.DefaultRegistryHost, addrs.TerraformRegistryHost
	if d.req.Dialect == cotter.DialectTerraform {
		own, others = others, own
	}
	var found, moved []string
	for _, p := range providers {
		switch {
		case p.Address.Hostname != others:
		case taken[p.Address]:
			moved = append(moved, p.Address.String())
		default:
			found = append(found, p.Address.String())
		}
	}
	if len(moved) > 0 {
		d.note("`cotter install --for terraform` leaves them as they are",
			"terraform has locked providers that tofu takes from its own registry; `cotter install` moves them to %s at the locked versions: %s", own, strings.Join(moved, ", "))
	}
	if len(found) > 0 {
		d.note("run `cotter install --for TOOL` with the tool that you use",
			"a provider address without a host means %s, but the lock has providers from the other tool's registry: %s", own, strings.Join(found, ", "))
	}
}

// takenOver returns the addresses in the lock whose versions the project's tool takes over for
// providers of its own registry. They are not known if modules are not installed.
func (d *doctor) takenOver(ctx context.Context) map[addrs.Provider]bool {
	taken := make(map[addrs.Provider]bool)
	providers, err := providersOf(ctx, d.in, d.req)
	if err != nil {
		return taken // Load returns the same error
	}
	for _, p := range providers {
		if p.LockedAs != (addrs.Provider{}) {
			taken[p.LockedAs] = true
		}
	}
	return taken
}

// lookAtVendored reports which packages are vendored in the repository, and whether they
// match the lock.
func (d *doctor) lookAtVendored(ctx context.Context) {
	d.begin("Vendored modules")
	dir := cmp.Or(d.req.Dir, ".")
	if d.req.Vendor == "" {
		d.forgottenVendor(dir)
		return
	}
	lock, lockErr := cotter.ReadLock(ctx, d.req)
	if lockErr != nil {
		lock = &lockfile.File{} // lookAtLock has reported the error
	}
	vendored, err := repository.CompareVendored(ctx, d.req, lock)
	if err != nil {
		d.problem("change `vendor` in the settings block of cotter.hcl", "%s", err)
		return
	}
	if lockErr == nil {
		d.reportVendored(vendored, len(lock.Modules()) > 0)
	}
}

// reportVendored reports how the vendored packages compare with the lock. hasEntries is true if the
// lock has entries of modules.
func (d *doctor) reportVendored(vendored *repository.VendorState, hasEntries bool) {
	if !vendored.Exists && hasEntries {
		d.problem("run `cotter install`, and commit the directory", "the settings say that the modules are in %s, but nothing is vendored there", vendored.Dir)
		return
	}
	if n := len(vendored.Verified); n > 0 {
		d.ok("%s vendored in %s as locked, and installed from there without requests", areModules(n), vendored.Dir)
	}
	if len(vendored.Missing) > 0 {
		d.problem("run `cotter install`", "not in %s: %s", vendored.Dir, strings.Join(keysOf(vendored.Missing), ", "))
	}
	if len(vendored.Changed) > 0 {
		d.problem("`cotter verify` lists the files, and `cotter install` writes the locked content", "in %s, but different from the lock: %s", vendored.Dir, strings.Join(keysOf(vendored.Changed), ", "))
	}
	if len(vendored.Unlocked) > 0 {
		d.note("`cotter install` removes them", "in %s without an entry in the lock: %s", vendored.Dir, strings.Join(keysOf(vendored.Unlocked), ", "))
	}
}

// forgottenVendor adds a note if modules.json points to a vendor directory that no setting
// names.
func (d *doctor) forgottenVendor(root string) {
	seen := make(map[string]bool)
	for _, dir := range d.installedDirs {
		if filepath.IsAbs(dir) {
			continue
		}
		for at := path.Clean(dir); at != "." && at != ".." && at != "/"; at = path.Dir(at) {
			if seen[at] {
				break
			}
			seen[at] = true
			if repository.IsVendorDir(filepath.Join(root, filepath.FromSlash(at))) {
				d.note("set `vendor` in the settings block of cotter.hcl, or run `cotter install`",
					"modules.json points to vendored modules in %s, which no setting names", at)
			}
		}
	}
}
