package installed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/lockfile"
)

// Status is the result of comparing an installed package with its lock entry.
type Status int

// The statuses. The zero value is for packages that were not compared.
const (
	Unknown Status = iota
	Verified
	Changed
	Missing
	// Former is the status of a package that was installed from a former entry. Callers set it: this
	// package does not know former entries.
	Former
)

// Report describes how one installed package compares with its entry.
type Report struct {
	Status Status
	// Want are the entry's hashes, and Got are the hashes of the installed files for the same
	// schemes.
	Want, Got []hashing.Hash
	// Changes lists the files that differ. It is empty if nothing differs or if the sums of the
	// locked files are not available.
	Changes hashing.Changes
	// Err is the reason why the installed files could not be read or compared, or nil.
	Err error
	// Tree is the tree of the entry if the package is verified.
	Tree *pkgtree.Tree
	// Files is the tree of the installed files, or nil if they could not be read.
	Files *pkgtree.Tree
	// SharedTree is the name of the project's shared tree that the package's directory has links
	// into. It is "" if there are no such links.
	SharedTree string
}

// Packages are the installed packages of a project. It is safe for concurrent use.
type Packages struct {
	project *project.Project
	// keepsModes reports whether the file system stores executable bits.
	keepsModes bool

	sharedTrees singleflight.Memo[string, *pkgtree.Tree]
	sums        sumsMemo

	stopped atomic.Bool
	reader  sync.WaitGroup
}

// New returns the packages of a project without reading them. p is nil if there is no modules
// directory: then all packages are missing.
func New(p *project.Project) *Packages {
	in := &Packages{project: p, keepsModes: p == nil || p.KeepsModes()}
	if p != nil {
		in.sums.read = p.Sums
	}
	return in
}

// KeepsModes reports whether the project's file system stores executable bits.
func (p *Packages) KeepsModes() bool { return p.keepsModes }

// ReadAhead starts to hash the shared trees in the background while the caller parses files. The
// caller must call [Packages.StopReading].
func (p *Packages) ReadAhead() {
	p.reader.Go(func() {
		for _, name := range p.project.Trees() {
			if p.stopped.Load() {
				return
			}
			_, _ = p.sharedTree(name) // Inspect returns the error
		}
	})
}

// StopReading ends ReadAhead and waits for the tree that is being read. The project's packages
// must not be moved before it returns.
func (p *Packages) StopReading() {
	p.stopped.Store(true)
	p.reader.Wait()
}

// Inspect compares the installed package of an entry with the entry.
func (p *Packages) Inspect(entry lockfile.Module) Report {
	if p.project == nil {
		return Report{Status: Missing}
	}
	var report Report
	tree, err := p.read(entry.Key, &report)
	switch {
	case errors.Is(err, fs.ErrNotExist) && tree == nil && report.SharedTree == "":
		report.Status = Missing
	case err != nil:
		report.Status, report.Err = Changed, err
		report.Changes = p.changesDespite(err, entry)
	default:
		locked := p.LockedTree(entry)
		if !p.keepsModes && locked != nil {
			tree = pkgtree.New(tree.WithModesOf(locked.Tree))
		}
		report.compare(entry, tree, locked)
		p.checkSharedTree(&report)
	}
	return report
}

// read hashes an installed package. The targets of links into a shared tree are hashed there,
// once for all calls.
func (p *Packages) read(key string, report *Report) (*pkgtree.Tree, error) {
	root, err := p.project.Package(key)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var last *pkgtree.Tree
	tree, err := hashing.Reader{MaxFile: pkgtree.MaxFile, Whole: func(path, target string) *hashing.Tree {
		name := project.LinkedTree(target, path)
		if name == "" {
			return nil
		}
		if name != report.SharedTree || last == nil {
			report.SharedTree = name
			if last, err = p.sharedTree(name); err != nil {
				return nil
			}
		}
		return last.Tree
	}}.Read(hashing.RootFS(root))
	switch {
	case err != nil:
		return nil, err
	case last != nil && tree == last.Tree:
		return last, nil // its hashes are computed once
	}
	return pkgtree.New(tree), nil
}

func (p *Packages) sharedTree(name string) (*pkgtree.Tree, error) {
	return p.sharedTrees.Do(context.Background(), name, func(context.Context) (*pkgtree.Tree, error) {
		return pkgtree.Read(p.project.TreePath(name))
	})
}

// LockedTree returns the tree from which an entry of the lock was made. It reads the sums in the
// project, and returns nil if there are none or they do not match the entry.
func (p *Packages) LockedTree(entry lockfile.Module) *pkgtree.Tree {
	if p.project == nil {
		return nil
	}
	return p.sums.lockedTree(entry)
}

// changesDespite compares the files of a package that cannot be hashed because of its links, for
// example because the target of a link is missing. A link to a missing file of a shared tree
// counts as a missing file.
func (p *Packages) changesDespite(err error, entry lockfile.Module) hashing.Changes {
	var bad *hashing.TreeError
	locked := p.LockedTree(entry)
	if !errors.As(err, &bad) || bad.Listed == nil || locked == nil {
		return hashing.Changes{}
	}
	return hashing.Diff(locked.Tree, &hashing.Tree{Entries: slices.DeleteFunc(bad.Listed.Entries, func(e hashing.Entry) bool {
		return e.Kind == hashing.Link && project.LinkedTree(e.Target, e.Path) != ""
	})})
}

// checkSharedTree checks the parts of a shared tree that no link of this package points to,
// because configuration is read there.
func (p *Packages) checkSharedTree(report *Report) {
	if report.Status != Verified || report.SharedTree == "" {
		return
	}
	path := p.project.TreePath(report.SharedTree)
	shared, err := p.sharedTree(report.SharedTree)
	if err != nil {
		report.Status, report.Err = Changed, fmt.Errorf("%s: %w", path, err)
		return
	}
	if shared == report.Tree {
		return
	}
	if changes := hashing.Diff(report.Tree.Tree, shared.Tree); !harmless(changes) {
		report.Status, report.Changes = Changed, changes
		report.Err = fmt.Errorf("%s is not the package of the lock", path)
	}
}

// CompareHashes records the hashes of an entry and of a tree for all schemes that both have. It
// reports whether there are any and all of them are equal.
func (r *Report) CompareHashes(entry lockfile.Module, tree *pkgtree.Tree) bool {
	same := true
	for _, want := range entry.Hashes {
		if have := tree.Hash(want.Scheme()); have != "" {
			r.Want, r.Got = append(r.Want, want), append(r.Got, have)
			same = same && want == have
		}
	}
	return same && len(r.Got) > 0
}

// compare compares a package with its entry by the hashes. If they differ and the locked tree is
// known, it compares the files.
func (r *Report) compare(entry lockfile.Module, tree, locked *pkgtree.Tree) {
	r.Tree, r.Files = tree, tree
	if r.CompareHashes(entry, tree) {
		r.Status = Verified
		return
	}
	r.Status = Changed
	if locked == nil {
		return
	}
	r.Tree = locked
	r.Changes = hashing.Diff(locked.Tree, tree.Tree)
	if harmless(r.Changes) {
		r.Status = Verified
	}
}

// harmless reports whether the only changes are added files that are not configuration.
func harmless(c hashing.Changes) bool {
	return len(c.Changed) == 0 && len(c.Vanished) == 0 &&
		!slices.ContainsFunc(c.Added, func(name string) bool { return configs.IsConfigFile(path.Base(name)) })
}
