package packagedir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// ReadAhead starts to hash the shared trees while the caller parses files, until [Dirs.StopReading].
func (d *Dirs) ReadAhead() {
	d.reader.Go(func() {
		for _, name := range d.project.Trees() {
			if d.stopped.Load() {
				return
			}
			_, _ = d.sharedTree(context.Background(), name) // Inspect returns the error
		}
	})
}

// StopReading waits for the tree that is being read. The project's packages must not be moved before.
func (d *Dirs) StopReading() {
	d.stopped.Store(true)
	d.reader.Wait()
}

// Inspect compares an entry's installed package with it. If ctx ends, the report is not complete.
func (d *Dirs) Inspect(ctx context.Context, entry lockfile.Module) Report {
	if d.project == nil {
		return Report{Status: Missing}
	}
	var report Report
	tree, err := d.readInstalled(ctx, entry.Key, &report)
	if errors.Is(err, fs.ErrNotExist) && tree == nil && report.SharedTree == "" {
		report.Status = Missing
		return report
	}
	c := comparison{entry: entry, locked: d.LockedTree(entry), keepsModes: d.KeepsModes}
	c.compare(&report, tree, err)
	d.checkSharedTree(ctx, &report)
	return report
}

// readInstalled hashes what links into a shared tree point to there, once for all calls.
func (d *Dirs) readInstalled(ctx context.Context, key string, report *Report) (*store.Tree, error) {
	root, err := d.project.Package(key)
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
			if last, err = d.sharedTree(ctx, name); err != nil {
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

func (d *Dirs) sharedTree(ctx context.Context, name string) (*store.Tree, error) {
	return d.sharedTrees.Do(ctx, name, func(ctx context.Context) (*store.Tree, error) {
		return store.ReadTree(ctx, d.project.TreePath(name))
	})
}

// isTreeLink reports whether an entry is a link into a shared tree. A package that cannot be hashed lists
// only those to missing files, which count as missing files.
func isTreeLink(e hashing.Entry) bool {
	return e.Kind == hashing.Link && project.LinkedTree(e.Target, e.Path) != ""
}

// checkSharedTree checks the parts of a shared tree to which no link of this package points, because
// configuration is read there.
func (d *Dirs) checkSharedTree(ctx context.Context, report *Report) {
	if report.Status != Verified || report.SharedTree == "" {
		return
	}
	path := d.project.TreePath(report.SharedTree)
	shared, err := d.sharedTree(ctx, report.SharedTree)
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
		!slices.ContainsFunc(c.Added, func(name string) bool { return configread.IsConfigFile(path.Base(name)) })
}
