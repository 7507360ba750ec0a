package cotter

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/project"
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
	// Unconfirmed says that no origin has confirmed the lock's entry to this
	// user, as far as Installer.StateDir tells: an edited lock can have been
	// installed by another tool.
	Unconfirmed bool

	// locked is the tree that the lock has, if the package is intact.
	locked *packageTree
	// whole is the name of the whole package of which the directory has only
	// the modules' own parts; "" where it has everything.
	whole string
}

// difference says which files differ, behind a colon; "" where that is not
// known.
func (p *PackageReport) difference() string {
	what := strings.Join(listChanges(p.Changes), ", ")
	if what == "" && p.Err != nil {
		what = p.Err.Error()
	}
	if what == "" {
		return ""
	}
	return ": " + what
}

// intact reports whether the package may stay as it is installed.
func (p *PackageReport) intact() bool { return p.Status == StatusVerified }

// installation is what is installed in a project. It is read only as far as it
// is asked for, and nothing is read twice.
type installation struct {
	work *project.Project
	// keepsModes says that the file system keeps executable bits.
	keepsModes bool

	wholes memo[string, *packageTree]
	sums   memo[hashing.Hash, *packageTree]
	ahead  readAhead
}

func newInstallation(work *project.Project) *installation {
	return &installation{work: work, keepsModes: work.KeepsModes()}
}

// inspect compares an installed package with its entry in the lock.
func (in *installation) inspect(entry lockfile.Module) *PackageReport {
	report := &PackageReport{Key: entry.Key}
	got, err := in.read(entry.Key, report)
	switch {
	case errors.Is(err, fs.ErrNotExist) && got == nil && report.whole == "":
		report.Status = StatusMissing
	case err != nil:
		report.Status, report.Err = StatusChanged, err
		report.Changes = in.changesDespite(err, entry)
	default:
		if locked := in.lockedTree(entry); !in.keepsModes && locked != nil {
			got = newPackageTree(got.WithModesOf(locked.Tree))
		}
		report.compare(entry, got, in.lockedTree)
		in.checkWhole(report)
	}
	return report
}

// changesDespite tells the files apart of a package that cannot be hashed for
// its links: what one leads to has vanished, say. A link of ours to something
// that the whole package lacks counts as what is lacking.
func (in *installation) changesDespite(err error, entry lockfile.Module) hashing.Changes {
	var bad *hashing.TreeError
	locked := in.lockedTree(entry)
	if !errors.As(err, &bad) || bad.Listed == nil || locked == nil {
		return hashing.Changes{}
	}
	return hashing.Diff(locked.Tree, &hashing.Tree{Entries: slices.DeleteFunc(bad.Listed.Entries, func(e hashing.Entry) bool {
		return e.Kind == hashing.Link && project.LinkedTree(e.Target, e.Path) != ""
	})})
}

// read hashes an installed package. What it has by links into a whole package
// is hashed there, once for all calls.
func (in *installation) read(key string, report *PackageReport) (*packageTree, error) {
	root, err := in.work.Package(key)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var last *packageTree
	tree, err := hashing.Reader{MaxFile: maxPackageFile, Whole: func(path, target string) *hashing.Tree {
		name := project.LinkedTree(target, path)
		if name == "" {
			return nil
		}
		if name != report.whole || last == nil {
			report.whole = name
			if last, err = in.whole(name); err != nil {
				return nil
			}
		}
		return last.Tree
	}}.Read(hashing.RootFS(root))
	switch {
	case err != nil:
		return nil, err
	case last != nil && tree == last.Tree:
		return last, nil // with the hashes that it has already
	}
	return newPackageTree(tree), nil
}

// whole hashes a whole package.
func (in *installation) whole(name string) (*packageTree, error) {
	return in.wholes.get(name, func() (*packageTree, error) { return readTree(in.work.TreePath(name)) })
}

// checkWhole looks at the parts of a whole package that no link of this call
// leads to: configuration is read there.
func (in *installation) checkWhole(report *PackageReport) {
	if report.Status != StatusVerified || report.whole == "" {
		return
	}
	path := in.work.TreePath(report.whole)
	whole, err := in.whole(report.whole)
	if err != nil {
		report.Status, report.Err = StatusChanged, fmt.Errorf("%s: %w", path, err)
		return
	}
	if whole == report.locked {
		return
	}
	if changes := hashing.Diff(report.locked.Tree, whole.Tree); !harmless(changes) {
		report.Status, report.Changes = StatusChanged, changes
		report.Err = fmt.Errorf("%s is not the package of the lock", path)
	}
}

// lockedTree is the tree that an entry of the lock was made from, out of the
// sums that are kept beside the installed modules; nil where they are not kept,
// or are not those of the entry.
func (in *installation) lockedTree(entry lockfile.Module) *packageTree {
	t1 := hashOfScheme(entry, "t1")
	if t1 == "" {
		return nil
	}
	tree, err := in.sums.get(t1, func() (*packageTree, error) {
		text, err := in.work.Sums(pkgcache.FileName(t1))
		if err != nil {
			return nil, err
		}
		tree, err := hashing.ParseTree(text)
		if err != nil {
			return nil, err
		}
		return newPackageTree(tree), nil
	})
	if err != nil || tree.T1() != t1 {
		return nil
	}
	if h1 := hashOfScheme(entry, "h1"); h1 != "" && h1 != tree.H1() {
		return nil // the entry contradicts itself
	}
	return tree
}

// compare decides by the hashes, and where they differ and the locked tree is
// known, by the files.
func (p *PackageReport) compare(entry lockfile.Module, got *packageTree, lockedTree func(lockfile.Module) *packageTree) {
	p.locked = got
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
	locked := lockedTree(entry)
	if locked == nil {
		return
	}
	p.locked = locked
	p.Changes = hashing.Diff(locked.Tree, got.Tree)
	if harmless(p.Changes) {
		p.Status = StatusVerified
	}
}

// harmless reports whether nothing but files were added, and no configuration:
// modules do write into their own directories.
func harmless(c hashing.Changes) bool {
	return len(c.Changed) == 0 && len(c.Vanished) == 0 && !slices.ContainsFunc(c.Added, isConfigFile)
}
