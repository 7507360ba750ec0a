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
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// Verify compares the installed modules of the configuration in dir with the lock. It reads
// every file, contacts no server and changes nothing. The report lists the differences. The
// error is about problems that prevent the comparison, such as an invalid or missing lock.
func (in *Installer) Verify(ctx context.Context, dir string) (*Report, error) {
	return in.VerifyRequest(ctx, Request{Dir: dir})
}

// VerifyRequest is Verify for a request. It is needed if the data directory or the lock
// file is not in its usual place, or if sources depend on variables. It ignores the fields
// of the request that are about changes.
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
	report.Refused = p.refusedProviders(lock, report.Providers)
	if err := in.compareConfig(ctx, p, lock, report); err != nil {
		return nil, err
	}
	if text := treeproviders.UnsortedHashes(lock.File); text != "" {
		report.Warnings = append(report.Warnings, Warning{Message: text})
	}
	report.Complete = true
	return report, nil
}

// comparePackages compares the installed packages with the lock.
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
			if found.Status == installed.Changed {
				p.explain(&report.Packages[i])
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
	for i := range report.Packages {
		if report.Packages[i].Status == StatusUnlocked {
			p.explain(&report.Packages[i])
		}
	}
	slices.SortFunc(report.Packages, func(a, b PackageReport) int { return strings.Compare(a.Key, b.Key) })
	return report, err
}

// explain records that a package is exactly what this user's last run installed, if the lock has
// another version now, or none. Vendored packages are part of the repository, and belong to the lock
// in it.
func (p *openProject) explain(report *PackageReport) {
	entry, locked := p.lock.Module(report.Key)
	old, ok := p.formerPackage(report.Key)
	switch {
	case !ok || report.Vendored != "":
	case !locked:
		report.Former = old
	case isOtherVersion(old, entry):
		*report = PackageReport{Key: report.Key, Status: StatusFormer, Former: old}
	}
}

// isOtherVersion reports whether two entries of a call are for different versions or sources. If
// only the package or its hashes differ, the lock was edited, or the origin has moved a version.
func isOtherVersion(a, b lockfile.Module) bool {
	if a.Version != b.Version || a.Source != b.Source {
		return true
	}
	ref := a.Revision()
	return a.Version == "" && a.Package != b.Package && (ref == "" || !strings.Contains(a.Source, ref))
}

// addState adds the state that an earlier run left in the project.
func (r *Report) addState(files *project.Project) {
	r.Unfinished = files.Unfinished()
	for _, f := range files.Notices() {
		if f.Kind == project.UnprovenJournal || f.Kind == project.UnprovenLockCopy {
			r.Unproven = append(r.Unproven, f.File)
		}
	}
}

// isInstalledPackage reports whether a record belongs to a call of a module outside the
// project. Such a call has its own directory.
func (p *openProject) isInstalledPackage(record manifest.Record) bool {
	return record.Key != "" && pathsafe.Within(record.Dir, p.dirs.PackageDir(record.Key)) || record.Version != "" ||
		record.Source != "" && !strings.HasPrefix(record.Source, ".")
}

// addFailures adds the failures of the walk to the right lists of the report.
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

// comparison compares the configuration of a project with its lock and with modules.json,
// while the tree is walked with the lock.
type comparison struct {
	*openProject
	run *trust
	// changed has the keys of packages that do not match the lock. formerly has those of them that
	// were installed from the former lock.
	changed, formerly map[string]bool
	// lost has the entries that the lock had once. lostCall is set if a call has one of them.
	lost     *lostEntries
	lostCall atomic.Bool

	// misplaced has the errors about records of modules.json. edited has the errors about
	// lock entries that differ from the entries that the packages were installed from.
	misplaced, edited failures
	// evidence has the evidence for entries, by their keys.
	evidence sync.Map // of evidence.Evidence
}

// knownTrust returns what a run in a project may believe that sends no requests. It reads the
// cache in cacheDir without opening it; "" means that there is no cache. named is the evidence
// that the run's mirrors and bundles give.
func (p *openProject) knownTrust(run evidence.Run, named []evidence.Evidence, cacheDir string) *trust {
	return p.trust(run, named, func(record string) (time.Time, bool) {
		if cacheDir == "" {
			return time.Time{}, false
		}
		return pkgcache.Confirmed(cacheDir, p.key, record)
	})
}

// compareConfig adds the differences between the configuration and the lock to the report:
//
//   - calls without an entry, and entries for another source or constraint
//   - records of modules.json that match neither
//   - calls that the policy does not allow, as far as this can be decided offline
//
// Installed modules are read if they exist. Missing packages are reported by
// comparePackages.
func (in *Installer) compareConfig(ctx context.Context, p *openProject, lock *providerLock, report *Report) error {
	cmp := &comparison{
		openProject: p, run: p.knownTrust(evidence.Verify, in.namedEvidence(p.req), in.CacheDir), changed: make(map[string]bool), formerly: make(map[string]bool),
		lost: &lostEntries{openProject: p},
	}
	cmp.checkManifest()
	for _, pkg := range report.Packages {
		cmp.changed[pkg.Key] = !pkg.intact()
		cmp.formerly[pkg.Key] = pkg.Status == StatusFormer
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
		known, _ := cmp.evidence.Load(pkg.Key)
		e, _ := known.(evidence.Evidence)
		report.Packages[i].Evidence = e
		report.Packages[i].Unconfirmed = pkg.intact() && !cmp.run.rule.Accepts(e) && in.hasState()
	}
	for _, key := range goneEntries(p.lock, modules, failures) {
		if cmp.changedAbove(pathOf(key)) {
			continue // the calls of a changed package are not known
		}
		report.Stale = append(report.Stale, &ModuleError{Path: pathOf(key), Err: &StaleError{"the lock has an entry for it, but the configuration has no such call"}})
	}
	report.addFailures(failures)
	report.Warnings = cmp.lost.warnings(ctx, nil)
	if cmp.lostCall.Load() {
		report.Lost = &LostEntriesError{LockFile: p.req.lockFile(), From: cmp.lost.from(ctx)}
	}
	report.Stale = append(report.Stale, cmp.edited.errs()...)
	report.Misplaced = cmp.misplaced.errs()
	if require == nil {
		return nil
	}
	return p.compareRequirements(ctx, lock, required, len(failures.errs()) == 0, report)
}

// changedAbove reports whether a package above a call does not match the lock.
func (cmp *comparison) changedAbove(path addrs.Module) bool {
	for i := range len(path) {
		if cmp.changed[path[:i].String()] {
			return true
		}
	}
	return false
}

// goneEntries returns the keys of lock entries whose calls the configuration does not have.
// It skips entries if the configuration could not be read.
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

// place finds the module of a call by the lock, and compares its directory with the one in
// modules.json. Stock tools read only modules.json: if it names other directories, they run
// files that were not verified.
func (cmp *comparison) place(ctx context.Context, c *call) (*module, error) {
	if err := checkCall(cmp.rules, c, cmp.lock); err != nil {
		return nil, err
	}
	entry, locked := cmp.lock.Module(c.key())
	if err := checkLocked(c, entry, locked); err != nil {
		if !locked && len(cmp.lock.Modules()) == 0 {
			cmp.noteLost(ctx, c)
		}
		return nil, err
	}
	cmp.checkFormer(c, entry)
	cmp.evidence.Store(entry.Key, cmp.run.evidenceOf(entry, c.from.FromPackage, cmp.dirs.VendoredDir(entry.Key) != ""))
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

// noteLost records that the lock has lost the entry of a call.
func (cmp *comparison) noteLost(ctx context.Context, c *call) {
	if entry, ok := cmp.lost.entry(ctx, c.key()); ok && c.from.Mismatch(entry) == "" {
		cmp.lostCall.Store(true)
	}
}

// checkLocked returns an error if the lock has no usable entry for a call.
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

// checkFormer compares an entry of the lock with the entry from which its package was
// installed. It does so only if the files match, because files do not show where they came
// from.
func (cmp *comparison) checkFormer(c *call, entry lockfile.Module) {
	if cmp.former == nil || cmp.changed[entry.Key] {
		return
	}
	old, ok := cmp.former.Module(entry.Key)
	if differing := lockentry.Differences(entry, old); ok && len(differing) > 0 {
		cmp.edited.addCall(c, c.fail(&StaleError{"the lock has changed since the installation: " + strings.Join(differing, ", ")}))
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
		return nil, c.fail(ErrNotInstalled) // comparePackages reports it
	}
	if cmp.formerly[key] {
		return nil, c.fail(ErrNotInstalled) // its calls and its record are those of another version
	}
	subdir, err := cmp.lockedSubdir(c, entry)
	if err != nil {
		return nil, c.fail(err)
	}
	cmp.checkRecord(&module{call: c, pkg: pkg, subdir: subdir, finalPath: path.Join(pkg.finalPath, subdir)}, entry.Version)
	m, err := moduleIn(c, pkg, subdir)
	return m, cmp.notInstalled(c, pkg, err)
}

// lockedSubdir returns the directory of a module in its package according to the lock. If
// the lock has only a pattern, or the entry has no package, the directory is taken from
// modules.json.
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

// notInstalled returns the error of a module whose directory could not be read. If the
// module's package or record is already reported, it returns an ErrNotInstalled, which is
// not reported again.
func (cmp *comparison) notInstalled(c *call, pkg *placement, err error) error {
	if err == nil || pkg == nil {
		return err
	}
	if cmp.changed[pkg.key] || cmp.misplaced.has(c.path) {
		return c.fail(ErrNotInstalled)
	}
	return err
}

// checkRecord compares the record of a module with the one that an installation would
// write.
func (cmp *comparison) checkRecord(m *module, version string) {
	if what := cmp.recordFault(m, version); what != "" {
		cmp.misplaced.addCall(m.call, m.call.fail(fmt.Errorf("%w: %s", ErrMisplaced, what)))
	}
}

func (cmp *comparison) recordFault(m *module, version string) string {
	if cmp.recordedErr != nil {
		return "" // checkManifest reports it once
	}
	want := m.record(version)
	record, ok := cmp.recorded.Lookup(want.Key)
	switch {
	case !ok:
		return "it has no record of the module"
	case record.Source != want.Source:
		return fmt.Sprintf("it has the source %q", addrs.Redact(record.Source))
	case !sameVersion(record.Version, want.Version):
		return fmt.Sprintf("it has the version %q, and the lock has %q", record.Version, want.Version)
	case path.Clean(record.Dir) != path.Clean(want.Dir):
		return fmt.Sprintf("it points to %q instead of %q", record.Dir, want.Dir)
	}
	return ""
}

// checkManifest reports a manifest that cannot be read.
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
