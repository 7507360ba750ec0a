package cotter

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/packagedir"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// placer finds installed packages, or stages packages for a run.
type placer struct {
	*origins.Session
	dirs    *installed.Dirs
	layout  Layout
	project *project.Project
	stage   *packagedir.Stage
	events  *events
	// vendored has the packages in the user's repository; nil if the project does not
	// vendor.
	vendored *packagedir.Vendored
	// readOnly says that nothing is placed: modules of packages are read from the cache.
	readOnly bool
	// former is the lock of the last run, or nil. mismatches collects the installed packages
	// that do not match the lock.
	former     *lockfile.File
	mismatches *mismatches
}

// installedPackage returns the installed package of a lock entry if it matches the entry,
// or nil if the package has to be installed again. Files that the module has added to
// itself do not matter unless they are configuration.
func (p *placer) installedPackage(ctx context.Context, entry lockfile.Module) (*placement, error) {
	found, done, err := p.inspect(ctx, entry)
	if err != nil {
		return nil, err
	}
	defer done()
	switch {
	case found.Status == installed.Changed:
		p.mismatches.add(entry, found, p.former, p.dirs)
		return nil, nil
	case found.Status != installed.Verified:
		return nil, nil
	case p.vendored != nil:
		return p.vendoredPlacement(entry, found), nil
	}
	placed := p.newPlacement(entry, found.Tree)
	placed.currentPath = filepath.Join(p.project.Path(), entry.Key)
	if found.SharedTree != "" {
		placed.shared = &sharedTree{Name: found.SharedTree, Path: p.project.TreePath(found.SharedTree), Tree: found.Tree}
		placed.currentPath, placed.inPlace = placed.shared.Path, true
	}
	return placed, nil
}

// difference lists the files that differ, after a colon; "" if they are not known.
func difference(found installed.Report) string {
	if found.Changes.Empty() && found.Err != nil {
		return ": " + found.Err.Error()
	}
	return listed(found.Changes)
}

// listed lists files after a colon; "" if there are none.
func listed(changes hashing.Changes) string {
	if changes.Empty() {
		return ""
	}
	return ": " + strings.Join(listChanges(changes), ", ")
}

// fromCache places the package of a lock entry from the cache. The error wraps
// fs.ErrNotExist if the cache does not have the package, or had a damaged copy.
func (p *placer) fromCache(ctx context.Context, entry lockfile.Module, subdir string) (*placement, error) {
	t1 := entry.Hash("t1")
	if t1 == "" || !p.Cache.Has(t1) {
		return nil, fs.ErrNotExist
	}
	placed, err := p.place(ctx, entry, subdir, t1)
	if err != nil {
		return nil, err
	}
	if h1 := entry.Hash("h1"); h1 != "" && h1 != placed.tree.H1() {
		return nil, &HashMismatchError{
			Key:     entry.Key,
			Package: entry.Package,
			Want:    []hashing.Hash{h1},
			Got:     []hashing.Hash{placed.tree.H1()},
		}
	}
	return placed, nil
}

// fromFetch places a fetched package for a call.
func (p *placer) fromFetch(ctx context.Context, entry lockfile.Module, subdir string, got *origins.Fetched) (*placement, error) {
	placed, err := p.place(ctx, entry, subdir, got.Tree.T1())
	if err != nil {
		return nil, err
	}
	placed.gitlinks, placed.leftOut = got.Gitlinks, got.LeftOut
	return placed, nil
}

// place places the package with a given hash for a call. If the module is the whole
// package, the call gets a private copy. Otherwise the package becomes a shared tree. The
// call's directory gets links to it once all of its modules are known.
func (p *placer) place(ctx context.Context, entry lockfile.Module, subdir string, t1 hashing.Hash) (*placement, error) {
	placed := p.newPlacement(entry, nil)
	var err error
	switch {
	case p.readOnly:
		placed.currentPath = p.Cache.TreePath(t1)
		placed.tree, err = p.readCached(ctx, t1)
	case p.vendored != nil:
		placed, err = p.stageVendored(ctx, entry, t1)
	case p.layout == LayoutCopy || subdir == "":
		placed.staged, placed.tree, err = p.stage.Copy(ctx, entry.Key, t1)
		placed.currentPath = placed.staged
	default:
		if placed.shared, err = p.stage.Shared(ctx, t1); err == nil {
			placed.currentPath, placed.tree = placed.shared.Path, placed.shared.Tree
		}
	}
	if errors.Is(err, pkgcache.ErrDamaged) {
		p.events.warn(pathOf(entry.Key), "its package in the cache was damaged; it was set aside")
		err = errors.Join(fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, err
	}
	return placed, nil
}

func (p *placer) readCached(ctx context.Context, t1 hashing.Hash) (*pkgtree.Tree, error) {
	done, err := p.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := p.Cache.Read(t1)
	if err != nil {
		return nil, err
	}
	return pkgtree.New(tree), nil
}

func (p *placer) newPlacement(entry lockfile.Module, tree *pkgtree.Tree) *placement {
	pkg, _ := entry.SplitPackage()
	return &placement{
		key:       entry.Key,
		entry:     entry,
		tree:      tree,
		finalPath: p.dirs.PackageDir(entry.Key),
		realPath:  p.dirs.RealPackageDir(entry.Key),
		local:     pkg.Getter() == "file",
	}
}

// A project may keep its packages in its own repository, in the directory Request.Vendor.
// Runs use these packages if they match the lock, and ask no origin. Committed files are
// trusted like local modules; the only difference is that the lock says where they came
// from. Using a vendored package confirms no entry for runs without Vendor.

// placeVendored returns the placement of an entry with a vendored package, or nil if the
// package is to be placed like others.
func (p *placer) placeVendored(ctx context.Context, entry lockfile.Module) (*placement, error) {
	if !p.vendored.UsesLocked() {
		return nil, nil
	}
	found, done, err := p.inspect(ctx, entry)
	if err != nil {
		return nil, err
	}
	defer done()
	if found.Status == installed.Verified {
		return p.vendoredPlacement(entry, found), nil
	}
	if p.vendored.Optional {
		return nil, nil
	}
	return nil, &VendorError{
		Key: entry.Key, Dir: p.dirs.PackageDir(entry.Key), Missing: found.Status == installed.Missing,
		Want: found.Want, Got: found.Got, Changes: found.Changes, Err: found.Err,
	}
}

// inspect compares the package of an entry with the lock. It takes one of the session's
// slots for parallel work, which done releases.
func (p *placer) inspect(ctx context.Context, entry lockfile.Module) (_ installed.Report, done func(), err error) {
	if done, err = p.Slot(ctx); err != nil {
		return installed.Report{}, nil, err
	}
	return p.dirs.Inspect(entry), done, nil
}

func (p *placer) vendoredPlacement(entry lockfile.Module, found installed.Report) *placement {
	placed := p.newPlacement(entry, found.Tree)
	placed.currentPath = p.dirs.PackagePath(entry.Key)
	return placed
}

// stageVendored places the package with a given hash for a call in a project that vendors.
// It uses the package in the vendor directory if it is right, else it stages a new copy.
func (p *placer) stageVendored(ctx context.Context, entry lockfile.Module, t1 hashing.Hash) (*placement, error) {
	found, done, err := p.inspect(ctx, entry)
	if err != nil {
		return nil, err
	}
	defer done()
	if found.Status == installed.Verified {
		return p.vendoredPlacement(entry, found), nil
	}
	placed := p.newPlacement(entry, nil)
	placed.currentPath, placed.tree, err = p.vendored.Stage(ctx, entry.Key, t1, found.Status)
	return placed, err
}

// staging is what a run has staged for a call's package.
type staging struct {
	// path is the staged directory that becomes the call's directory.
	path string
	// shared is the tree that the directory links to; nil if it has no links.
	shared *sharedTree
}

// linkSharedTrees creates the directories of calls that use a shared tree. All modules in
// the packages are known at this point. It returns what is staged for each call, by key.
// Calls whose packages stay in their places are not in the result.
func (p *placer) linkSharedTrees(ctx context.Context, modules []*module) (map[string]staging, error) {
	var owners []*module
	for _, m := range modules {
		if m.ownsPackage() && (m.pkg.staged != "" || m.pkg.needsLinks()) {
			owners = append(owners, m)
		}
	}
	stagings := make([]staging, len(owners))
	group, ctx := errgroup.WithContext(ctx)
	for i, m := range owners {
		if !m.pkg.needsLinks() {
			stagings[i] = staging{path: m.pkg.staged}
			continue
		}
		group.Go(func() error {
			path, linked, err := p.stage.Link(ctx, m.pkg.key, m.pkg.shared, moduleDirsOf(m.pkg, modules))
			stagings[i].path = path
			if linked {
				stagings[i].shared = m.pkg.shared
			}
			return m.call.failIf(err)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	byKey := make(map[string]staging, len(owners))
	for i, m := range owners {
		byKey[m.pkg.key] = stagings[i]
	}
	return byKey, nil
}

// needsLinks reports whether the package's directory has yet to be created.
func (p *placement) needsLinks() bool { return p.shared != nil && !p.inPlace }

// moduleDirsOf returns the directories of a package that contain modules.
func moduleDirsOf(pkg *placement, modules []*module) []string {
	var dirs []string
	for _, m := range modules {
		if m.pkg == pkg {
			dirs = append(dirs, path.Clean(m.subdir))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// pathOf returns the path of a key that is known to be valid.
func pathOf(key string) addrs.Module {
	path, _ := addrs.ParseModule(key)
	return path
}
