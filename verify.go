package cotter

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/project"
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
	return report, in.compareConfig(ctx, p, report)
}

// comparePackages compares what is installed with the lock.
func (in *Installer) comparePackages(ctx context.Context, p *openProject) (*Report, error) {
	entries := p.lock.Modules()
	report := &Report{Packages: make([]PackageReport, len(entries))}
	if p.files == nil {
		for i, entry := range entries {
			report.Packages[i] = PackageReport{Key: entry.Key, Status: StatusMissing}
		}
		return report, nil
	}
	report.Unfinished = p.files.Unfinished()
	for _, f := range p.files.Findings() {
		if f.Kind == project.UnprovenJournal || f.Kind == project.UnprovenLockCopy {
			report.Unproven = append(report.Unproven, f.File)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i, entry := range entries {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			found := p.installed.Inspect(entry)
			report.Packages[i] = PackageReport{
				Key: entry.Key, Status: statuses[found.Status],
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
	slices.SortFunc(report.Packages, func(a, b PackageReport) int { return compareKeys(a.Key, b.Key) })
	return report, err
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
	return record.Key != "" && within(record.Dir, p.paths.installDir(record.Key)) || record.Version != "" ||
		record.Source != "" && !strings.HasPrefix(record.Source, ".")
}
