package cotter

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/workdir"
	"github.com/cotterpin/cotter/lockfile"
)

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
	Key    string
	Status Status
	// Want are the lock's hashes, Got those of the installed files, of the
	// same schemes.
	Want, Got []hashing.Hash
	// Changes tells the files apart. It is empty where nothing differs, and
	// where the sums of the locked files are not kept beside the modules.
	Changes hashing.Changes
	// Err is why the installed files could not be read, if they could not.
	Err error

	want *hashing.Tree
}

// intact reports whether the package may stay as it is installed.
func (p *PackageReport) intact() bool { return p.Status == StatusVerified }

// inspect compares an installed package with its entry in the lock.
func inspect(work *workdir.Dir, entry lockfile.Module) *PackageReport {
	report := &PackageReport{Key: entry.Key}
	root, err := work.Package(entry.Key)
	if errors.Is(err, fs.ErrNotExist) {
		report.Status = StatusMissing
		return report
	}
	if err != nil {
		report.Status, report.Err = StatusChanged, err
		return report
	}
	defer root.Close()
	got, err := hashing.ReadTree(root.FS())
	if err != nil {
		report.Status, report.Err = StatusChanged, err
		return report
	}
	report.compare(entry, got, savedTree(work, entry))
	return report
}

// compare decides by the hashes, and where they differ and the locked tree is
// known, by the files.
func (p *PackageReport) compare(entry lockfile.Module, got, locked *hashing.Tree) {
	p.want = got
	same := true
	for _, want := range entry.Hashes {
		if have := hashOf(got, want.Scheme()); have != "" {
			p.Want, p.Got = append(p.Want, want), append(p.Got, have)
			same = same && want == have
		}
	}
	if same && len(p.Got) > 0 {
		return
	}
	p.Status = StatusChanged
	if locked == nil {
		return
	}
	p.want = locked
	p.Changes = hashing.Diff(locked, got)
	if len(p.Changes.Changed) == 0 && len(p.Changes.Vanished) == 0 && !slices.ContainsFunc(p.Changes.Added, isConfigFile) {
		p.Status = StatusVerified
	}
}
