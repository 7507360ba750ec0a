package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// comparison compares the configuration with the lock and modules.json, while the tree is walked with the lock.
type comparison struct {
	*reading
	run *trust
	// changed has the keys of packages that do not match the lock, and formerly those of them that were
	// installed from the former lock.
	changed, formerly map[string]bool
	// lost has the entries that the lock had once. lostCall is set if a call has one of them.
	lost     *lostEntries
	lostCall atomic.Bool

	// misplaced has the errors about records of modules.json, and edited those about lock entries that differ
	// from the entries that the packages were installed from.
	misplaced, edited failures
	// unlocked has the calls that the program does not lock.
	unlocked failures
	// evidence has the evidence for entries, by their keys.
	evidence sync.Map // of evidence.Evidence
}

// compareConfig adds the differences between the configuration and the lock to the report, and calls that the
// policy does not allow, as far as this can be decided offline. comparePackages has reported missing packages.
func (p *reading) compareConfig(ctx context.Context, lock *providerLock, report *Report) error {
	cmp := &comparison{
		reading: p, run: p.trust(), changed: make(map[string]bool), formerly: make(map[string]bool),
		lost: &lostEntries{openProject: p.openProject},
	}
	cmp.checkManifest()
	for _, pkg := range report.Packages {
		cmp.changed[pkg.Path.String()] = !pkg.intact()
		cmp.formerly[pkg.Path.String()] = pkg.Status == StatusFormer
	}
	required := newRequirements(p.req.Project)
	var require func(*module, config.Module)
	if p.hasProviders() {
		require = required.add
	}
	modules, failures, err := p.walk(ctx, cmp.module, require)
	if err != nil {
		return err
	}
	for i, pkg := range report.Packages {
		known, _ := cmp.evidence.Load(pkg.Path.String())
		e, _ := known.(evidence.Evidence)
		if e.IsZero() && pkg.intact() && cmp.run.believesInstalled() {
			e.Kind = evidence.Installed
		}
		report.Packages[i].Evidence = e
		report.Packages[i].Unconfirmed = pkg.intact() && !cmp.run.rule.Accepts(e) && p.user.hasState
	}
	for _, f := range cmp.unlocked.Sorted() {
		report.Unlocked = append(report.Unlocked, f.Path)
	}
	for _, key := range goneEntries(p.Lock, modules, failures) {
		if cmp.changedAbove(pathOf(key)) {
			continue // the calls of a changed package are not known
		}
		report.Stale = append(report.Stale, &ModuleError{Path: pathOf(key), Err: &StaleError{whyGone(pathOf(key), modules, cmp.unlocked.HasAtOrAbove(pathOf(key)))}})
	}
	for _, m := range modules {
		if m.Call.IsDirectory() {
			report.Directories = append(report.Directories, m.Call.DirectoryEntry())
		}
	}
	report.addFailures(failures)
	report.Warnings = append(cmp.lost.warnings(ctx, nil), p.warningsOfLinks(modules)...)
	if cmp.lostCall.Load() {
		report.Lost = &LockedError{LockFile: p.req.lockFile(), Earlier: cmp.lost.from(ctx), Lost: true}
	}
	report.Stale = append(report.Stale, cmp.edited.Errs()...)
	forms, err := p.compareForms(ctx, modules)
	switch {
	case err != nil:
		return err
	case forms != nil && p.isSettled(ctx):
		report.Warnings = append(report.Warnings, forms.warning(true))
	case forms != nil:
		report.Stale = append(report.Stale, forms)
	}
	if p.files != nil || len(report.Packages)+len(lock.Providers())+len(report.Stale)+len(report.Unread) > 0 {
		report.Misplaced = cmp.misplaced.Errs()
	} // otherwise nothing is installed, and nothing has to be
	if require == nil {
		return nil
	}
	return p.compareRequirements(ctx, lock, required, len(failures.Errs())+len(report.Unlocked) == 0, report)
}

func (cmp *comparison) changedAbove(path addrs.Module) bool {
	for i := range len(path) {
		if cmp.changed[path[:i].String()] {
			return true
		}
	}
	return false
}

// goneEntries returns the keys of lock entries whose calls the configuration does not have, or which are local.
// It skips entries below what could not be read.
func goneEntries(lock *lockfile.File, modules []*module, failures *failures) []string {
	known := make(map[string]bool)
	for _, m := range modules {
		known[m.Key()] = !m.Call.From.IsLocal() || m.Call.IsDirectory()
	}
	var gone []string
	for _, entry := range slices.Concat(lock.Modules(), lock.Directories()) {
		if !known[entry.Key] && !failures.HasAtOrAbove(pathOf(entry.Key)) {
			gone = append(gone, entry.Key)
		}
	}
	return gone
}

func whyGone(path addrs.Module, modules []*module, unlocked bool) string {
	if unlocked || slices.ContainsFunc(modules, func(m *module) bool { return m.Call.Unlocked && m.Key() == path.String() }) {
		return "the lock has an entry for it, but the program does not lock the call"
	}
	if slices.ContainsFunc(modules, func(m *module) bool { return m.Key() == path.String() }) {
		return "the lock has an entry for it, but its source is a local directory, which is not locked"
	}
	return "the lock has an entry for it, but the configuration has no such call"
}

// warningsOfLinks warns of directories of this machine, which no lock covers.
func (p *openProject) warningsOfLinks(modules []*module) []event.Warning {
	var calls []string
	for _, m := range modules {
		if at := m.Call.PlaceOfSource(); m.LinksTo != "" {
			calls = append(calls, fmt.Sprintf("%s (%s:%d)", m.Path(), at.Filename, at.Start.Line))
		}
	}
	if len(calls) == 0 || p.req.NoLock {
		return nil
	}
	return []event.Warning{{Message: "linked to directories of this machine, and not locked: " + strings.Join(calls, ", ")}}
}

// module finds the module of a call by the lock, and compares its directory with the one in modules.json. Stock
// tools read only modules.json: if it names other directories, they run files that were not verified.
func (cmp *comparison) module(ctx context.Context, c *call) (*module, error) {
	if err := checkCall(cmp.rules, c, cmp.Lock); err != nil {
		return nil, err
	}
	if c.Unlocked && !c.From.IsLocal() {
		cmp.unlocked.AddCall(c, treewalk.ErrLeftOut)
		return nil, treewalk.ErrLeftOut // nothing says what its package calls
	}
	entry, locked := cmp.Lock.Module(c.Key())
	if err := cmp.checkLocked(c, entry, locked); err != nil {
		if !locked && len(cmp.Lock.Modules()) == 0 {
			cmp.noteLost(ctx, c)
		}
		return nil, err
	}
	cmp.checkFormer(c, entry)
	cmp.evidence.Store(entry.Key, cmp.run.evidenceOf(entry, c))
	if c.From.IsLocal() {
		m, err := cmp.LocalModule(c)
		if err != nil {
			return nil, cmp.notInstalled(c, c.Caller.Package, err)
		}
		if c.IsDirectory() {
			if err := cmp.directoryFault(m); err != nil {
				return nil, c.Fail(err)
			}
		}
		cmp.checkRecord(m, versions.Version{})
		cmp.checkLink(m)
		return m, nil
	}
	return cmp.lockedModule(c, entry)
}

func (cmp *comparison) noteLost(ctx context.Context, c *call) {
	if entry, ok := cmp.lost.entry(ctx, c.Key()); ok && c.From.Mismatch(entry) == "" {
		cmp.lostCall.Store(true)
	}
}

func (cmp *comparison) checkLocked(c *call, entry lockfile.Module, locked bool) error {
	if c.From.IsLocal() {
		return nil
	}
	if !locked {
		return c.Fail(&StaleError{cmp.noEntry(c)})
	}
	if reason := c.Mismatch(entry); reason != "" {
		return c.Fail(&StaleError{reason})
	}
	if cmp.addresses().isOther(c, entry) {
		return c.Fail(&StaleError{otherAddress(c, entry)})
	}
	if reason, at := c.Change(entry); reason != "" {
		return c.FailAt(at, &StaleError{reason})
	}
	return nil
}

// checkFormer compares an entry with the one from which its package was installed, if the files match: they do
// not show where they came from.
func (cmp *comparison) checkFormer(c *call, entry lockfile.Module) {
	old, ok := cmp.former.Module(entry.Key)
	if !ok || cmp.changed[entry.Key] {
		return
	}
	if differing := lockentry.Differences(entry, old); len(differing) > 0 {
		cmp.edited.AddCall(c, c.Fail(&StaleError{"the lock has changed since the installation: " + strings.Join(differing, ", ")}))
	}
}

func (cmp *comparison) lockedModule(c *call, entry lockfile.Module) (*module, error) {
	key := c.Key()
	pkg := new(cmp.NewPackage(entry))
	if _, err := os.Lstat(pkg.Files.Path()); err != nil {
		return nil, c.Fail(ErrNotInstalled) // comparePackages reports it
	}
	if cmp.formerly[key] {
		return nil, c.Fail(ErrNotInstalled) // its calls and its record are those of another version
	}
	subdir, err := cmp.lockedSubdir(c, entry)
	if err != nil {
		return nil, c.Fail(err)
	}
	cmp.checkRecord(&module{Call: c, Package: pkg, Subdir: subdir, FinalPath: path.Join(pkg.FinalPath, subdir)}, entry.Version)
	m, err := treewalk.ModuleIn(c, pkg, subdir)
	return m, cmp.notInstalled(c, pkg, err)
}

// lockedSubdir returns the directory of a module in its package by the lock. If that has only a pattern, or no
// package, it is the one in modules.json.
func (cmp *comparison) lockedSubdir(c *call, entry lockfile.Module) (string, error) {
	subdir, err := c.From.LockedSubdir(entry)
	if err != nil || !entry.Package.IsZero() && !store.IsPattern(subdir) {
		return subdir, err
	}
	record, _ := cmp.Recorded.Lookup(c.Key())
	recorded, below := strings.CutPrefix(record.Dir, cmp.dirs.PackageDir(c.Key())+"/")
	if fits, err := path.Match(subdir, recorded); below && (entry.Package.IsZero() || fits && err == nil) {
		return pathsafe.CleanSubdir(recorded), nil
	}
	return subdir, nil
}

// notInstalled returns the error of a module whose directory could not be read. If its package or record is
// already reported, it is an ErrNotInstalled, which is not reported again.
func (cmp *comparison) notInstalled(c *call, pkg *treewalk.Package, err error) error {
	if err == nil || pkg == nil {
		return err
	}
	if cmp.changed[pkg.Key] || cmp.misplaced.Has(c.Path) {
		return c.Fail(ErrNotInstalled)
	}
	return err
}

func (cmp *comparison) checkRecord(m *module, version versions.Version) {
	if what := cmp.recordFault(m, version); what != "" {
		cmp.misplaced.AddCall(m.Call, m.Call.Fail(fmt.Errorf("%w: %s", ErrMisplaced, what)))
	}
}

func (cmp *comparison) recordFault(m *module, version versions.Version) string {
	if cmp.RecordedErr != nil {
		return "" // checkManifest reports it once
	}
	want := m.Record(version)
	record, ok := cmp.Recorded.Lookup(want.Key)
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

func (cmp *comparison) checkLink(m *module) {
	if m.LinksTo == "" || cmp.misplaced.Has(m.Path()) || cmp.files == nil || cmp.files.LinksTo(m.Key(), m.LinksTo) {
		return
	}
	cmp.misplaced.AddCall(m.Call, m.Call.Fail(fmt.Errorf("%w: %s is not a link to %s", ErrMisplaced, cmp.dirs.PackageDir(m.Key()), m.LinksTo)))
}

func (cmp *comparison) checkManifest() {
	err := cmp.RecordedErr
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is gone")
	}
	if err != nil {
		cmp.misplaced.Add(nil, nil, fmt.Errorf("%w: %w", ErrMisplaced, err))
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

// compareProviders returns none for a project without a providers directory, which was installed without
// providers.
func (p *reading) compareProviders(ctx context.Context, lock *providerLock) ([]ProviderReport, error) {
	entries := lock.Managed()
	if len(entries) == 0 {
		return nil, nil
	}
	found, err := treeproviders.Inspect(ctx, p.providerStore(), p.providersPath(), entries)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	knows := p.providerEvidence()
	reports := make([]ProviderReport, len(found))
	for i, state := range found {
		entry := entries[i]
		r := &reports[i]
		*r = ProviderReport{
			Provider: entry.Address, Version: entry.Version, Status: statuses[state.Status], Former: versionOf(state.Former), Want: entry.Hashes, Got: state.H1, Err: state.Err,
		}
		if r.intact() {
			entry.Hashes = []hashing.Hash{state.H1} // the lock may also have hashes of other packages
			r.Evidence = knows(ctx, entry)
			r.Unconfirmed = r.Evidence.IsZero() && p.user.hasState
		}
	}
	return reports, nil
}

func (p *reading) refusedProviders(lock *providerLock, reports []ProviderReport) []error {
	var refused []error
	for _, entry := range lock.Providers() {
		err := p.rules.CheckProvider(entry.Address)
		brought := slices.ContainsFunc(reports, func(r ProviderReport) bool {
			return r.Provider == entry.Address && r.Evidence.Kind == evidence.Project
		})
		if err == nil && brought {
			err = p.rules.CheckProjectProvider()
		}
		if err != nil {
			refused = append(refused, &ProviderError{Provider: entry.Address, Version: entry.Version, Err: err})
		}
	}
	return refused
}

// compareRequirements adds to a report where the lock does not match the requirements of the modules. Entries
// that no module requires are reported only if all modules could be read.
func (p *reading) compareRequirements(ctx context.Context, lock *providerLock, required *requirements, complete bool, report *Report) error {
	pooled, err := required.pool()
	if err != nil {
		report.Unread = append(report.Unread, parts(err)...)
		complete = false
	}
	others := treeproviders.FindUnrequired(lock.Lock, pooled, false)
	takenOver := make(map[addrs.Provider]bool)
	for _, r := range treeproviders.Sorted(pooled, others.Kept) {
		entry, has := lock.Provider(r.Address)
		if !r.IsDecided(entry, has) {
			takenOver[entry.From] = true
			report.Stale = append(report.Stale, r.Fail(versions.Version{}, &StaleError{r.Undecided(entry, has).Reason}))
		}
	}
	for _, address := range others.Gone {
		if !complete {
			break // a module that could not be read may require it
		}
		if takenOver[address] {
			continue // it is reported above
		}
		report.Stale = append(report.Stale, &ProviderError{Provider: address, Err: &StaleError{"the lock has an entry for it, but no module requires it"}})
	}
	return nil
}

func (r *Report) addFailures(failures *failures) {
	for _, err := range failures.Errs() {
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
