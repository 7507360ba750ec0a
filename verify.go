package cotter

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// Report is what Verify found.
type Report struct {
	// Packages are all packages of the lock and all installed ones, in the
	// order of their keys.
	Packages []PackageReport
	// Stale says where the configuration and the lock do not fit together, as
	// *ModuleError in the order of the modules' paths.
	Stale []error
	// Misplaced says where modules.json, by which stock tools find modules, has
	// something else than the configuration and the lock: another directory,
	// say, whose files nobody has verified. They are *ModuleError in the order
	// of the modules' paths.
	Misplaced []error
	// Refused are calls that the policy does not allow, as *ModuleError over
	// *policy.Violation in the order of the modules' paths. Below them nothing
	// was compared with the configuration.
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
	return !r.Unfinished && len(r.Stale)+len(r.Misplaced)+len(r.Refused) == 0 && !slices.ContainsFunc(r.Packages, func(p PackageReport) bool { return !p.intact() })
}

// Verify compares the installed modules of the configuration in dir with its
// lock. It reads every file and asks no server; it changes nothing. The error
// is about what could not be compared at all: a lock that is unusable or
// absent. What differs is in the report.
func (in *Installer) Verify(ctx context.Context, dir string) (*Report, error) {
	return in.VerifyRequest(ctx, Request{Dir: dir})
}

// VerifyRequest is Verify for a project whose data directory or lock file is
// not where it usually is, or whose sources depend on variables. What the
// request says about changes does not matter.
func (in *Installer) VerifyRequest(ctx context.Context, req Request) (*Report, error) {
	if src, err := readLock(req); err != nil {
		return nil, err
	} else if src == nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(req.dir(), req.lockFile()), Err: fs.ErrNotExist}
	}
	l, err := in.loader(ctx, req)
	if err != nil {
		return nil, err
	}
	report, err := l.compare(ctx)
	if err != nil {
		return nil, err
	}
	return report, l.compareConfig(ctx, report)
}

// compare compares what is installed with the lock.
func (l *loader) compare(ctx context.Context) (_ *Report, err error) {
	work, err := project.View(l.req.location(), l.key)
	if errors.Is(err, fs.ErrNotExist) {
		return allMissing(l.lock), nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	report := &Report{Unfinished: work.Unfinished()}
	for _, f := range work.Findings() {
		if f.Kind == project.UnprovenJournal || f.Kind == project.UnprovenLockCopy {
			report.Unproven = append(report.Unproven, f.File)
		}
	}
	report.Packages, err = inspectAll(ctx, work, l.lock.Modules(), l.in.parallel())
	for _, record := range l.recorded.Records() {
		if _, locked := l.lock.Module(record.Key); !locked && isInstalledPackage(record, l.req) {
			report.Packages = append(report.Packages, PackageReport{Key: record.Key, Status: StatusUnlocked})
		}
	}
	slices.SortFunc(report.Packages, func(a, b PackageReport) int { return compareKeys(a.Key, b.Key) })
	return report, err
}

func inspectAll(ctx context.Context, work *project.Project, entries []lockfile.Module, parallel int) ([]PackageReport, error) {
	reports := make([]PackageReport, len(entries))
	installed := newInstallation(work)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, entry := range entries {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			reports[i] = *installed.inspect(entry)
			return nil
		})
	}
	return reports, group.Wait()
}

// isInstalledPackage reports whether a record is that of a call of a module
// outside the project: such a one has a directory of its own.
func isInstalledPackage(record manifest.Record, req Request) bool {
	return record.Key != "" && within(record.Dir, req.installDir(record.Key)) || record.Version != "" ||
		record.Source != "" && !strings.HasPrefix(record.Source, ".")
}

func allMissing(lock *lockfile.File) *Report {
	report := &Report{}
	for _, entry := range lock.Modules() {
		report.Packages = append(report.Packages, PackageReport{Key: entry.Key, Status: StatusMissing})
	}
	return report
}
