package packagedir

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
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Installed are the installed packages of a project. It is safe for concurrent use.
type Installed struct {
	project *project.Project
	// keepsModes says that the project's file system has executable bits.
	keepsModes bool

	sharedTrees singleflight.Memo[string, *store.Tree]
	sums        sumsMemo

	stopped atomic.Bool
	reader  sync.WaitGroup
}

// NewInstalled reads nothing. p is nil without a modules directory: then all packages are missing.
func NewInstalled(p *project.Project) *Installed {
	in := &Installed{project: p, keepsModes: p == nil || p.KeepsModes()}
	if p != nil {
		in.sums.read = p.Sums
	}
	return in
}

func (p *Installed) KeepsModes() bool { return p.keepsModes }

// ReadAhead starts to hash the shared trees while the caller parses files, until [Packages.StopReading].
func (p *Installed) ReadAhead() {
	p.reader.Go(func() {
		for _, name := range p.project.Trees() {
			if p.stopped.Load() {
				return
			}
			_, _ = p.sharedTree(context.Background(), name) // Inspect returns the error
		}
	})
}

// StopReading waits for the tree that is being read. The project's packages must not be moved before.
func (p *Installed) StopReading() {
	p.stopped.Store(true)
	p.reader.Wait()
}

// Inspect compares an entry's package with it. If ctx ends, the report is not complete.
func (p *Installed) Inspect(ctx context.Context, entry lockfile.Module) Report {
	if p.project == nil {
		return Report{Status: Missing}
	}
	var report Report
	tree, err := p.read(ctx, entry.Key, &report)
	if errors.Is(err, fs.ErrNotExist) && tree == nil && report.SharedTree == "" {
		report.Status = Missing
		return report
	}
	c := comparison{entry: entry, locked: p.LockedTree(entry), keepsModes: p.keepsModes, ignored: isTreeLink, harmless: harmless}
	c.compare(&report, tree, err)
	p.checkSharedTree(ctx, &report)
	return report
}

// read hashes what links into a shared tree point to there, once for all calls.
func (p *Installed) read(ctx context.Context, key string, report *Report) (*store.Tree, error) {
	root, err := p.project.Package(key)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var last *store.Tree
	tree, err := hashing.Reader{MaxFile: store.MaxFile, Whole: func(path, target string) *hashing.Tree {
		name := project.LinkedTree(target, path)
		if name == "" {
			return nil
		}
		if name != report.SharedTree || last == nil {
			report.SharedTree = name
			if last, err = p.sharedTree(ctx, name); err != nil {
				return nil
			}
		}
		return last.Tree
	}}.Read(ctx, hashing.RootFS(root))
	switch {
	case err != nil:
		return nil, err
	case last != nil && tree == last.Tree:
		return last, nil // its hashes are computed once
	}
	return store.NewTree(tree), nil
}

func (p *Installed) sharedTree(ctx context.Context, name string) (*store.Tree, error) {
	return p.sharedTrees.Do(ctx, name, func(ctx context.Context) (*store.Tree, error) {
		return store.ReadTree(ctx, p.project.TreePath(name))
	})
}

// LockedTree reads the tree of an entry from the project's sums; nil if there are none or they do not
// match.
func (p *Installed) LockedTree(entry lockfile.Module) *store.Tree {
	if p.project == nil {
		return nil
	}
	return p.sums.lockedTree(entry)
}

// isTreeLink reports whether an entry is a link into a shared tree. A package that cannot be hashed lists
// only those to missing files, which count as missing files.
func isTreeLink(e hashing.Entry) bool {
	return e.Kind == hashing.Link && project.LinkedTree(e.Target, e.Path) != ""
}

// checkSharedTree checks the parts of a shared tree to which no link of this package points, because
// configuration is read there.
func (p *Installed) checkSharedTree(ctx context.Context, report *Report) {
	if report.Status != Verified || report.SharedTree == "" {
		return
	}
	path := p.project.TreePath(report.SharedTree)
	shared, err := p.sharedTree(ctx, report.SharedTree)
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

func harmless(c hashing.Changes) bool {
	return len(c.Changed) == 0 && len(c.Vanished) == 0 &&
		!slices.ContainsFunc(c.Added, func(name string) bool { return configs.IsConfigFile(path.Base(name)) })
}
