package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// Verify compares the installed modules of the configuration in dir with its
// lock. It reads every file and asks no server; it changes nothing. The error is
// about what could not be compared at all: a lock that is unusable or absent. What
// differs is in the report.
func (in *Installer) Verify(ctx context.Context, dir string) (*Report, error) {
	return in.VerifyRequest(ctx, Request{Dir: dir})
}

// VerifyRequest is Verify for a project whose data directory or lock file is not
// where it usually is, or whose sources depend on variables. What the request says
// about changes does not matter.
func (in *Installer) VerifyRequest(ctx context.Context, req Request) (_ *Report, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if p.lockSrc == nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(req.dir(), req.lockFile()), Err: fs.ErrNotExist}
	}
	if err := p.readRules(); err != nil {
		return nil, err
	}
	report, err := in.comparePackages(ctx, p)
	if err != nil {
		return nil, err
	}
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	if report.Providers, err = in.compareProviders(ctx, p, lock); err != nil {
		return nil, err
	}
	report.Refused = p.refusedProviders(lock)
	return report, in.compareConfig(ctx, p, lock, report)
}

// comparePackages compares what is installed with the lock.
func (in *Installer) comparePackages(ctx context.Context, p *openProject) (*Report, error) {
	entries := p.lock.Modules()
	report := &Report{Packages: make([]PackageReport, len(entries))}
	if p.files == nil && p.dirs.Vendor == nil {
		for i, entry := range entries {
			report.Packages[i] = PackageReport{Key: entry.Key, Status: StatusMissing}
		}
		return report, nil
	}
	if p.files != nil {
		report.addState(p.files)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i, entry := range entries {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			found := p.dirs.Inspect(entry)
			report.Packages[i] = PackageReport{
				Key: entry.Key, Vendored: p.dirs.VendoredDir(entry.Key), Status: statuses[found.Status],
				Want: found.Want, Got: found.Got, Changes: found.Changes, Err: found.Err,
			}
			return nil
		})
	}
	err := group.Wait()
	for _, record := range p.recorded.Records() {
		if _, locked := p.lock.Module(record.Key); !locked && p.isInstalledPackage(record) {
			report.Packages = append(report.Packages, PackageReport{Key: record.Key, Status: StatusUnlocked})
		}
	}
	for _, key := range p.dirs.UnlockedVendored(p.lock) {
		if !slices.ContainsFunc(report.Packages, func(p PackageReport) bool { return p.Key == key }) {
			report.Packages = append(report.Packages, PackageReport{Key: key, Vendored: p.dirs.VendoredDir(key), Status: StatusUnlocked})
		}
	}
	slices.SortFunc(report.Packages, func(a, b PackageReport) int { return strings.Compare(a.Key, b.Key) })
	return report, err
}

// addState adds what an earlier run has left in a project.
func (r *Report) addState(files *project.Project) {
	r.Unfinished = files.Unfinished()
	for _, f := range files.Findings() {
		if f.Kind == project.UnprovenJournal || f.Kind == project.UnprovenLockCopy {
			r.Unproven = append(r.Unproven, f.File)
		}
	}
}

// isInstalledPackage reports whether a record is that of a call of a module
// outside the project: such a one has a directory of its own.
func (p *openProject) isInstalledPackage(record manifest.Record) bool {
	return record.Key != "" && pathsafe.Within(record.Dir, p.dirs.PackageDir(record.Key)) || record.Version != "" ||
		record.Source != "" && !strings.HasPrefix(record.Source, ".")
}

// addFailures sorts what went wrong in the walk.
func (r *Report) addFailures(failures *failures) {
	for _, err := range failures.errs() {
		var unreadable *ConfigError
		var refused *policy.Violation
		switch {
		case errors.As(err, &refused):
			r.Refused = append(r.Refused, err)
		case errors.As(err, &unreadable):
			r.Unread = append(r.Unread, err)
		case !errors.Is(err, ErrNotInstalled):
			r.Stale = append(r.Stale, err)
		}
	}
}

// comparison compares the configuration of a project with its lock and with
// modules.json, while the tree is walked by the lock.
type comparison struct {
	*openProject
	confirmed *lockentry.Confirmations
	// changed are the packages that are not what the lock says, by their keys.
	changed map[string]bool

	// misplaced are the records of modules.json that differ, and edited the entries of
	// the lock that are not those by which the packages were installed.
	misplaced, edited failures
	// origins are the keys of the entries that an origin has confirmed.
	origins sync.Map
}

// confirmationsOf returns what is known of confirmations in a project, by a cache
// that may not be open.
func confirmationsOf(p *openProject, cacheDir string) *lockentry.Confirmations {
	return &lockentry.Confirmations{Former: p.former, FormerConfirmed: p.formerConfirmed, Recorded: func(record string) bool {
		return cacheDir != "" && pkgcache.IsConfirmed(cacheDir, p.key, record)
	}}
}

// compareConfig says how the configuration and the lock disagree: calls without an
// entry, and entries for another source or another constraint; which records of
// modules.json are not what both give; and what the policy does not allow, as far
// as it can be told offline. Installed modules are read as far as they are there.
// Missing packages are reported by comparePackages.
func (in *Installer) compareConfig(ctx context.Context, p *openProject, lock *providerLock, report *Report) error {
	cmp := &comparison{openProject: p, confirmed: confirmationsOf(p, in.CacheDir), changed: make(map[string]bool)}
	cmp.checkManifest()
	for _, pkg := range report.Packages {
		cmp.changed[pkg.Key] = !pkg.intact()
	}
	required := newRequirements()
	var require func(addrs.Module, ModuleConfig)
	if p.hasProviders() {
		require = required.add
	}
	modules, failures, err := in.walkInstalled(ctx, p, cmp.place, require)
	if err != nil {
		return err
	}
	for i, pkg := range report.Packages {
		_, confirmed := cmp.origins.Load(pkg.Key)
		report.Packages[i].Unconfirmed = pkg.intact() && !confirmed && in.hasState() && p.dirs.Vendor == nil
	}
	for _, key := range goneEntries(p.lock, modules, failures) {
		if cmp.changedAbove(pathOf(key)) {
			continue // what the module calls is not known
		}
		report.Stale = append(report.Stale, &ModuleError{Path: pathOf(key), Err: &StaleError{"the lock has an entry for it, and the configuration has no such call"}})
	}
	report.addFailures(failures)
	report.Stale = append(report.Stale, cmp.edited.errs()...)
	report.Misplaced = cmp.misplaced.errs()
	if require == nil {
		return nil
	}
	return p.compareRequirements(ctx, lock, required, len(failures.errs()) == 0, report)
}

// changedAbove reports whether a package above a call is not what the lock says.
func (cmp *comparison) changedAbove(path addrs.Module) bool {
	for i := range len(path) {
		if cmp.changed[path[:i].String()] {
			return true
		}
	}
	return false
}

// goneEntries are the keys of a lock's entries whose calls the configuration does
// not have, as far as it could be read.
func goneEntries(lock *lockfile.File, modules []*module, failures *failures) []string {
	known := make(map[string]bool)
	for _, m := range modules {
		known[m.key()] = true
	}
	var gone []string
	for _, entry := range lock.Modules() {
		if !known[entry.Key] && !failures.hasAtOrAbove(pathOf(entry.Key)) {
			gone = append(gone, entry.Key)
		}
	}
	return gone
}

// place finds the module of a call by the lock, and compares its place with that in
// modules.json. Stock tools read modules.json alone: one that names other directories
// has them run files that were not verified.
func (cmp *comparison) place(_ context.Context, c *call) (*module, error) {
	if err := checkCall(cmp.rules, c, cmp.lock); err != nil {
		return nil, err
	}
	entry, locked := cmp.lock.Module(c.key())
	if err := checkLocked(c, entry, locked); err != nil {
		return nil, err
	}
	cmp.checkFormer(c, entry)
	if cmp.confirmed.HasEntry(entry, c.from.FromPackage) {
		cmp.origins.Store(entry.Key, true)
	}
	if c.from.IsLocal() {
		m, err := localModule(c, cmp.dirs.Root)
		if err != nil {
			return nil, cmp.notInstalled(c, c.caller.pkg, err)
		}
		cmp.checkRecord(m, "")
		return m, nil
	}
	return cmp.placeLocked(c, entry)
}

// checkLocked says why a lock does not decide a call.
func checkLocked(c *call, entry lockfile.Module, locked bool) error {
	if c.from.IsLocal() {
		return nil
	}
	if !locked {
		return c.fail(&StaleError{"the lock has no entry for it"})
	}
	if reason := c.from.Mismatch(entry); reason != "" {
		return c.fail(&StaleError{reason})
	}
	if entry.Constraints != c.from.Want.String() {
		return c.failVersion(&StaleError{c.constraintChanged(entry)})
	}
	return nil
}

// checkFormer compares an entry of the lock with that by which its package was
// installed, if the files do not differ: they do not tell where they are from.
func (cmp *comparison) checkFormer(c *call, entry lockfile.Module) {
	if cmp.former == nil || cmp.changed[entry.Key] {
		return
	}
	old, ok := cmp.former.Module(entry.Key)
	if differing := lockentry.Differences(entry, old); ok && len(differing) > 0 {
		cmp.edited.addCall(c, c.fail(&StaleError{"the lock is not what it was installed by: " + strings.Join(differing, ", ")}))
	}
}

// placeLocked finds the module of a call of another package.
func (cmp *comparison) placeLocked(c *call, entry lockfile.Module) (*module, error) {
	key := c.key()
	pkg := &placement{
		key:         key,
		entry:       entry,
		finalPath:   cmp.dirs.PackageDir(key),
		realPath:    cmp.dirs.RealPackageDir(key),
		currentPath: cmp.dirs.PackagePath(key),
	}
	if _, err := os.Lstat(pkg.currentPath); err != nil {
		return nil, c.fail(ErrNotInstalled) // which the package's report says
	}
	subdir, err := cmp.lockedSubdir(c, entry)
	if err != nil {
		return nil, c.fail(err)
	}
	cmp.checkRecord(&module{call: c, pkg: pkg, subdir: subdir, finalPath: path.Join(pkg.finalPath, subdir)}, entry.Version)
	m, err := moduleIn(c, pkg, subdir)
	return m, cmp.notInstalled(c, pkg, err)
}

// lockedSubdir returns the directory of a module in its package by the lock. One that
// only a pattern names is taken from modules.json, as is that of an entry without a
// package.
func (cmp *comparison) lockedSubdir(c *call, entry lockfile.Module) (string, error) {
	subdir, err := c.from.LockedSubdir(entry)
	if err != nil || entry.Package != "" && !pkgtree.IsPattern(subdir) {
		return subdir, err
	}
	record, _ := cmp.recorded.Lookup(c.key())
	recorded, below := strings.CutPrefix(record.Dir, cmp.dirs.PackageDir(c.key())+"/")
	if fits, err := path.Match(subdir, recorded); below && (entry.Package == "" || fits && err == nil) {
		return pkgtree.CleanSubdir(recorded), nil
	}
	return subdir, nil
}

// notInstalled is the error of a module whose place could not be entered. If its
// package or its record differs, that is reported already.
func (cmp *comparison) notInstalled(c *call, pkg *placement, err error) error {
	if err == nil || pkg == nil {
		return err
	}
	if cmp.changed[pkg.key] || cmp.misplaced.has(c.path) {
		return c.fail(ErrNotInstalled)
	}
	return err
}

// checkRecord compares the record of a module with what an installation writes.
func (cmp *comparison) checkRecord(m *module, version string) {
	if what := cmp.recordFault(m, version); what != "" {
		cmp.misplaced.addCall(m.call, m.call.fail(fmt.Errorf("%w: %s", ErrMisplaced, what)))
	}
}

func (cmp *comparison) recordFault(m *module, version string) string {
	if cmp.recordedErr != nil {
		return "" // it is reported once, by checkManifest
	}
	want := m.record(version)
	record, ok := cmp.recorded.Lookup(want.Key)
	switch {
	case !ok:
		return "it has no record of it"
	case record.Source != want.Source:
		return fmt.Sprintf("it has the source %q", addrs.Redact(record.Source))
	case !sameVersion(record.Version, want.Version):
		return fmt.Sprintf("it has the version %q, and the lock has %q", record.Version, want.Version)
	case path.Clean(record.Dir) != path.Clean(want.Dir):
		return fmt.Sprintf("it points to %q instead of %q", record.Dir, want.Dir)
	}
	return ""
}

// checkManifest reports a manifest that cannot be read at all.
func (cmp *comparison) checkManifest() {
	err := cmp.recordedErr
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is gone")
	}
	if err != nil {
		cmp.misplaced.add(nil, nil, fmt.Errorf("%w: %w", ErrMisplaced, err))
	}
}

// sameVersion compares versions as the lock and modules.json spell them.
func sameVersion(a, b string) bool {
	if a == b {
		return true
	}
	va, errA := versions.Parse(a)
	vb, errB := versions.Parse(b)
	return errA == nil && errB == nil && va == vb
}
