package installer

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/lockfile"
)

// Verify compares the installed modules, and providers if the project has a directory of them, with the lock.
// It reads every file, contacts no server and changes nothing. The error is about what prevents the comparison,
// such as an invalid lock, or a *[MissingLockError]; the report has the differences. It is complete and has no
// packages if nothing needs a lock.
func (in *Installer) Verify(ctx context.Context, project Project, _ VerifyOptions) (_ *Report, err error) {
	defer ctxerr.Keep(ctx, &err)
	req := readingOf(project, ScopeAll)
	if err := req.checkWithLock(); err != nil {
		return nil, err
	}
	p, err := openToRead(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	if err := p.requireLock(ctx); err != nil {
		return nil, err
	}
	if err := p.readRules(); err != nil {
		return nil, err
	}
	report, err := p.comparePackages(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	if report.Providers, err = p.compareProviders(ctx, lock); err != nil {
		return nil, err
	}
	report.Refused = p.refusedProviders(lock, report.Providers)
	if err := p.compareConfig(ctx, lock, report); err != nil {
		return nil, err
	}
	report.addUnproven(p.files)
	if text := treeproviders.UnsortedHashes(lock.File); text != "" {
		report.Warnings = append(report.Warnings, event.Warning{Message: text})
	}
	report.Complete = true
	return report, nil
}

// addUnproven adds the files that another user or project has left. The copy of a lock is one only if it would
// have confirmed entries that nothing else confirms.
func (r *Report) addUnproven(files *project.Project) {
	if files == nil {
		return
	}
	needsCopy := slices.ContainsFunc(r.Packages, func(p PackageReport) bool { return p.Unconfirmed }) ||
		slices.ContainsFunc(r.Providers, func(p ProviderReport) bool { return p.Unconfirmed })
	for _, f := range files.Notices() {
		if f.Kind == project.UnprovenJournal || f.Kind == project.UnprovenLockCopy && needsCopy {
			r.Unproven = append(r.Unproven, f.File)
		}
	}
}

func (p *reading) comparePackages(ctx context.Context) (*Report, error) {
	entries := p.Lock.Modules()
	report := &Report{Packages: make([]PackageReport, len(entries))}
	if p.files == nil {
		for i, entry := range entries {
			report.Packages[i] = PackageReport{Path: pathOf(entry.Key), Status: StatusMissing}
		}
		return report, nil
	}
	report.Unfinished = p.files.Unfinished()
	group, during := errgroup.WithContext(ctx)
	group.SetLimit(p.clients.Parallel)
	for i, entry := range entries {
		group.Go(func() error {
			if err := ctxerr.Of(during); err != nil {
				return err
			}
			found := p.dirs.Inspect(during, entry)
			if err := ctxerr.Of(during); err != nil {
				return err // what was found is not complete
			}
			report.Packages[i] = packageReport(entry.Key, found)
			if found.Status == packagedir.Changed {
				p.explain(during, &report.Packages[i])
			}
			return nil
		})
	}
	err := group.Wait()
	for _, record := range p.Recorded.Records() {
		_, locked := p.Lock.Module(record.Key)
		if _, isDirectory := p.Lock.Directory(record.Key); !locked && !isDirectory && p.isInstalledPackage(record) {
			report.Packages = append(report.Packages, PackageReport{Path: recordedPath(record.Key), Status: StatusUnlocked})
		}
	}
	for i := range report.Packages {
		if report.Packages[i].Status == StatusUnlocked {
			p.explain(ctx, &report.Packages[i])
		}
	}
	slices.SortFunc(report.Packages, func(a, b PackageReport) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	return report, err
}

// explain records that a package is exactly what this user's last run installed, if the lock has another
// version now, or none.
func (p *reading) explain(ctx context.Context, report *PackageReport) {
	key := report.Path.String()
	entry, locked := p.Lock.Module(key)
	old, ok := p.formerPackage(ctx, key)
	switch {
	case !ok:
	case !locked:
		report.Former = old
	case isOtherVersion(old, entry):
		*report = PackageReport{Path: report.Path, Status: StatusFormer, Former: old}
	}
}

// isOtherVersion reports whether two entries are for different versions or sources. If only the package or its
// hashes differ, the lock was edited, or the origin has moved a version.
func isOtherVersion(a, b lockfile.Module) bool {
	if a.Version != b.Version || !addrs.SameRecord(a.Source, b.Source) {
		return true
	}
	ref := a.Revision()
	return a.Version.IsZero() && a.Package != b.Package && (ref == "" || !strings.Contains(a.Source.String(), ref))
}

// isInstalledPackage reports whether a record belongs to a call with a directory of its own. A link to a
// directory of this machine is no package.
func (p *reading) isInstalledPackage(record project.ManifestRecord) bool {
	source, err := addrs.ParseModuleSource(record.Source)
	if remote, ok := source.(addrs.ModuleSourceRemote); ok && err == nil && remote.Package.LocalDirectory() != "" {
		return false
	}
	return record.Key != "" && pathsafe.Within(record.Dir, p.dirs.PackageDir(record.Key)) || record.Version != "" ||
		record.Source != "" && !strings.HasPrefix(record.Source, ".")
}
