package main

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// lookAtVendored reports which packages are vendored in the repository, and whether they
// match the lock.
func (d *doctor) lookAtVendored(context.Context) {
	d.begin("Vendored modules")
	dir := cmp.Or(d.req.Dir, ".")
	if d.req.Vendor == "" {
		d.forgottenVendor(dir)
		return
	}
	dataDir := cmp.Or(d.req.DataDir, ".terraform")
	if !filepath.IsAbs(dataDir) {
		dataDir = filepath.Join(dir, dataDir)
	}
	vendored, err := project.FindVendorDir(dir, d.req.Vendor, dataDir)
	if err != nil {
		d.problem("change `vendor` in the settings block of cotter.hcl", "%s", err)
		return
	}
	lock, err := cotter.ReadLock(d.req)
	if err != nil {
		return // lookAtLock has reported it
	}
	d.compareVendored(vendored, lock)
}

func (d *doctor) compareVendored(vendored *project.VendorDir, lock *lockfile.File) {
	name := vendored.Name()
	if !project.IsVendorDir(vendored.Path()) && len(lock.Modules()) > 0 {
		d.problem("run `cotter vendor`, and commit the directory", "the settings say that the modules are in %s, but nothing is vendored there", name)
		return
	}
	var missing, changed, unlocked []string
	verified, packages := 0, installed.NewVendored(vendored)
	for _, entry := range lock.Modules() {
		switch packages.Inspect(entry).Status {
		case installed.Missing:
			missing = append(missing, entry.Key)
		case installed.Verified:
			verified++
		default:
			changed = append(changed, entry.Key)
		}
	}
	for _, key := range vendored.Keys() {
		if _, ok := lock.Module(key); !ok {
			unlocked = append(unlocked, key)
		}
	}
	if verified > 0 {
		d.ok("%s vendored in %s as locked, and installed from there without requests", areModules(verified), name)
	}
	if len(missing) > 0 {
		d.problem("run `cotter vendor`", "not in %s: %s", name, strings.Join(missing, ", "))
	}
	if len(changed) > 0 {
		d.problem("`cotter verify` lists the files, and `cotter vendor` writes the locked content", "in %s, but different from the lock: %s", name, strings.Join(changed, ", "))
	}
	if len(unlocked) > 0 {
		d.note("`cotter vendor` removes them", "in %s without an entry in the lock: %s", name, strings.Join(unlocked, ", "))
	}
}

// forgottenVendor adds a note if modules.json points to a vendor directory that no setting
// names.
func (d *doctor) forgottenVendor(root string) {
	seen := make(map[string]bool)
	for _, place := range d.placed {
		if filepath.IsAbs(place) {
			continue
		}
		for at := path.Clean(place); at != "." && at != ".." && at != "/"; at = path.Dir(at) {
			if seen[at] {
				break
			}
			seen[at] = true
			if project.IsVendorDir(filepath.Join(root, filepath.FromSlash(at))) {
				d.note("set `vendor` in the settings block of cotter.hcl, or run `cotter install`",
					"modules.json points to vendored modules in %s, which no setting names", at)
			}
		}
	}
}
