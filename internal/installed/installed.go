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
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/lockfile"
)

// Status is how an installed package compares with its entry in the lock.
type Status int

// The statuses.
const (
	Verified Status = iota
	Changed
	Missing
)

// Report is how one installed package compares with its entry.
type Report struct {
	Status Status
	// Want are the entry's hashes, Got those of the installed files, of the same
	// schemes.
	Want, Got []hashing.Hash
	// Changes tells the files apart. It is empty if nothing differs, and if the sums
	// of the locked files are not kept.
	Changes hashing.Changes
	// Err is why the installed files could not be read, if they could not.
	Err error
	// Tree is the tree of the entry if the package is verified.
	Tree *pkgtree.Tree
	// SharedTree is the name of the project's shared tree into which the package's
	// directory has links; "" if it has everything itself.
	SharedTree string
}

// Packages are the packages that are installed in a project. It is safe for
// concurrent use.
type Packages struct {
	project *project.Project
	// keepsModes says that the file system keeps executable bits.
	keepsModes bool

	sharedTrees singleflight.Memo[string, *pkgtree.Tree]
	sums        singleflight.Memo[hashing.Hash, *pkgtree.Tree]

	stopped atomic.Bool
	reader  sync.WaitGroup
}

// New returns the packages of a project, none of which is read yet. p is nil if
// there is no modules directory: then all packages are missing.
func New(p *project.Project) *Packages {
	return &Packages{project: p, keepsModes: p == nil || p.KeepsModes()}
}

// KeepsModes reports whether the project's file system keeps executable bits.
func (p *Packages) KeepsModes() bool { return p.keepsModes }

// ReadAhead begins to hash the shared trees in the background, while the caller
// parses its files. [Packages.StopReading] must follow.
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

// StopReading ends ReadAhead and waits for the tree that is being read. The
// project's packages may be moved only after it.
func (p *Packages) StopReading() {
	p.stopped.Store(true)
	p.reader.Wait()
}

// Inspect compares the package that is installed for an entry with the entry.
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

// read hashes an installed package. What it has by links into a shared tree is
// hashed there, once for all calls.
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

// LockedTree returns the tree from which an entry of the lock was made, by the sums
// that are kept in the project; nil if they are not kept, or are not those of the
// entry.
func (p *Packages) LockedTree(entry lockfile.Module) *pkgtree.Tree {
	t1 := entry.Hash("t1")
	if t1 == "" || p.project == nil {
		return nil
	}
	tree, err := p.sums.Do(context.Background(), t1, func(context.Context) (*pkgtree.Tree, error) {
		text, err := p.project.Sums(pkgcache.FileName(t1))
		if err != nil {
			return nil, err
		}
		tree, err := hashing.ParseTree(text)
		if err != nil {
			return nil, err
		}
		return pkgtree.New(tree), nil
	})
	if err != nil || tree.T1() != t1 {
		return nil
	}
	if h1 := entry.Hash("h1"); h1 != "" && h1 != tree.H1() {
		return nil // the entry contradicts itself
	}
	return tree
}

// changesDespite tells the files apart of a package that cannot be hashed because of
// its links: the target of one has vanished, for example. A link of ours to
// something that the shared tree lacks counts as vanished.
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

// checkSharedTree checks the parts of a shared tree to which no link of this
// package points: configuration is read there.
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

// CompareHashes notes the hashes of an entry and those of a tree, scheme by scheme, and
// reports whether there are any and all are equal.
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

// compare decides by the hashes and, if they differ and the locked tree is known,
// by the files.
func (r *Report) compare(entry lockfile.Module, tree, locked *pkgtree.Tree) {
	r.Tree = tree
	if r.CompareHashes(entry, tree) {
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

// harmless reports whether nothing but files were added that are not
// configuration.
func harmless(c hashing.Changes) bool {
	return len(c.Changed) == 0 && len(c.Vanished) == 0 &&
		!slices.ContainsFunc(c.Added, func(name string) bool { return configs.IsConfigFile(path.Base(name)) })
}
