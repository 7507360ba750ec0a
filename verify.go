package cotter

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
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
	slices.SortFunc(report.Packages, func(a, b PackageReport) int { return compareKeys(a.Key, b.Key) })
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

// statuses are the statuses of packages that have an entry.
var statuses = map[installed.Status]Status{
	installed.Verified: StatusVerified,
	installed.Changed:  StatusChanged,
	installed.Missing:  StatusMissing,
}

// isInstalledPackage reports whether a record is that of a call of a module
// outside the project: such a one has a directory of its own.
func (p *openProject) isInstalledPackage(record manifest.Record) bool {
	return record.Key != "" && pathsafe.Within(record.Dir, p.dirs.PackageDir(record.Key)) || record.Version != "" ||
		record.Source != "" && !strings.HasPrefix(record.Source, ".")
}

// Status is how an installed package compares with the lock.
type Status int

// The statuses of a package.
const (
	// StatusVerified is a package whose bytes are those of the lock, apart from
	// files that it was given since and that are no configuration.
	StatusVerified Status = iota
	// StatusChanged is a package with changed or vanished files, or with
	// configuration files that were added.
	StatusChanged
	// StatusMissing is a package of the lock that is not installed.
	StatusMissing
	// StatusUnlocked is an installed package that the lock has no entry for.
	StatusUnlocked
)

// String is the status in one word.
func (s Status) String() string {
	switch s {
	case StatusVerified:
		return "verified"
	case StatusChanged:
		return "changed"
	case StatusMissing:
		return "missing"
	}
	return "unlocked"
}

// PackageReport is how one installed package compares with the lock.
type PackageReport struct {
	// Key is the path of the module call, with dots.
	Key string
	// Vendored is the package's directory in Request.Vendor, relative to the root
	// module's, with slashes; "" if the request names none. Every file counts there.
	Vendored string
	Status   Status
	// Want are the lock's hashes, Got those of the installed files, of the
	// same schemes.
	Want, Got []hashing.Hash
	// Changes tells the files apart. It is empty where nothing differs, and
	// where the sums of the locked files are not kept beside the modules.
	Changes hashing.Changes
	// Err is why the installed files could not be read, if they could not.
	Err error
	// Unconfirmed says that no origin has confirmed the lock's entry to this
	// user, as far as Installer.StateDir tells: an edited lock can have been
	// installed by another tool. Vendored packages need no confirmation.
	Unconfirmed bool
}

// intact reports whether the package may stay as it is installed.
func (p *PackageReport) intact() bool { return p.Status == StatusVerified }

// Report is what Verify found.
type Report struct {
	// Packages are all packages of the lock and all installed ones, in the
	// order of their keys.
	Packages []PackageReport
	// Providers are all providers of the lock, in its order. It is empty if the project
	// has no directory of providers.
	Providers []ProviderReport
	// Stale says where the configuration and the lock do not fit together, as
	// *ModuleError in the order of the modules' paths, and as *ProviderError in the
	// order of the lock. Providers are compared if the project has a directory of them.
	Stale []error
	// Misplaced says where modules.json, by which stock tools find modules, has
	// something else than the configuration and the lock: another directory,
	// say, whose files nobody has verified. They are *ModuleError in the order
	// of the modules' paths.
	Misplaced []error
	// Refused are providers of the lock and calls that the policy does not allow, as
	// *ProviderError and *ModuleError over *policy.Violation, in the order of the lock
	// and of the modules' paths. Below such calls nothing was compared with the
	// configuration.
	Refused []error
	// Unread is configuration that could not be read and was not compared with
	// the lock, as *ConfigError: for want of a variable's value, say. It is no
	// failure: what is installed was compared.
	Unread []error
	// Unfinished says that an installation was killed while it put modules
	// into their places. The next Install undoes that.
	Unfinished bool
	// Unproven are files below .terraform that this user did not write for this
	// project. They counted as absent.
	Unproven []string
}

// OK reports whether every package is installed and is what the lock says, and
// the lock is for this configuration, which the policy allows.
func (r *Report) OK() bool {
	return !r.Unfinished && len(r.Stale)+len(r.Misplaced)+len(r.Refused) == 0 &&
		!slices.ContainsFunc(r.Packages, func(p PackageReport) bool { return !p.intact() }) &&
		!slices.ContainsFunc(r.Providers, func(p ProviderReport) bool { return !p.intact() })
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

// Origin is where the package of a call comes from now, beside what the lock
// has.
type Origin struct {
	// Path is the called module's path, and Call the block that calls it.
	Path addrs.Module
	Call ModuleCall
	// Package is the package's address, without what pins it, for people.
	Package string
	// Ref is the name that the origin goes by: "tag v1.2.0", "branch main",
	// "HEAD"; empty for archives, which have no refs.
	Ref string
	// Locked is what the lock has and Now what the origin points to: a commit, a
	// digest, or the h1 hash of an archive that was fetched to compare it.
	Locked, Now string
	// Err is set if the origin could not be asked, or did not answer.
	Err error
}

// Moved reports whether the origin has something else than the lock.
func (o Origin) Moved() bool { return o.Err == nil && o.Locked != o.Now }

// VerifyRemote asks the origins of all locked packages whether tags, digests,
// branches and the answers of registries still mean what the lock has. Archives,
// which have no revisions, are fetched and hashed. The modules must be installed;
// nothing is changed. The origins are in the order of the paths.
func (in *Installer) VerifyRemote(ctx context.Context, req Request) (_ []Origin, err error) {
	p, err := in.openToAsk(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	modules, failures, err := in.installedTree(ctx, p.openProject)
	if err == nil {
		err = failures.join()
	}
	if err != nil {
		return nil, err
	}
	list := make([]Origin, 0, len(modules))
	var wait sync.WaitGroup
	for _, m := range modules {
		entry, locked := p.lock.Module(m.key())
		if !locked || !m.ownsPackage() {
			continue
		}
		list = append(list, Origin{Path: m.path(), Call: m.call.ModuleCall})
		o := &list[len(list)-1] // the list has room for all, so it stays where it is
		wait.Go(func() { o.compare(ctx, p.origins, m.call, entry) })
	}
	wait.Wait()
	return list, ctx.Err()
}

// compare asks the origin of a call and compares its answer with the entry.
func (o *Origin) compare(ctx context.Context, asks *origins.Origins, c *call, entry lockfile.Module) {
	if reason := c.mismatch(entry); reason != "" {
		o.Err = c.fail(&StaleError{reason})
		return
	}
	at, err := asks.LocateLocked(ctx, c.asked(), entry)
	if err != nil {
		o.Err = c.fail(err)
		return
	}
	o.Package = at.Package.Redacted()
	locked, lockedSubdir := entry.SplitPackage()
	if at.FromServer() && !pkgtree.IsPattern(at.Subdir) && cleanSubdir(at.Subdir) != cleanSubdir(lockedSubdir) {
		o.Ref, o.Locked, o.Now = "directory", lockedSubdir, at.Subdir
		return
	}
	reference, err := asks.Reference(ctx, c.asked(), at, locked.Revision())
	switch {
	case err != nil:
		o.Err = c.fail(err)
	case reference.Revision == "":
		o.compareArchive(ctx, asks, c, entry, at)
	case locked.Revision() == "": // it was an archive
		o.Ref, o.Locked, o.Now = "address", locked.Redacted(), o.Package
	default:
		o.Ref, o.Locked, o.Now = reference.String(), locked.Revision(), reference.Revision
	}
}

// compareArchive fetches a package that has no revisions, to compare it.
func (o *Origin) compareArchive(ctx context.Context, asks *origins.Origins, c *call, entry lockfile.Module, at origins.Location) {
	got, err := asks.Fetch(ctx, c.asked(), at, "", "")
	if err != nil {
		o.Err = c.fail(err)
		return
	}
	locked, _ := entry.SplitPackage()
	zh := entry.Hash("zh")
	o.Locked, o.Now = string(entry.Hash("h1")), string(got.Tree.H1())
	if o.Moved() {
		return
	}
	switch {
	case !locked.IsZero() && lockentry.PackageAddress(got.Resolved, "") != lockentry.PackageAddress(locked, ""):
		o.Ref, o.Locked, o.Now = "address", locked.Redacted(), got.Resolved.Redacted()
	case zh != "" && got.Archive != "":
		o.Locked, o.Now = string(zh), string(got.Archive)
	}
}
