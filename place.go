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
	"github.com/cotterpin/cotter/internal/materialize"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/packagedirs"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/vendordir"
	"github.com/cotterpin/cotter/lockfile"
)

// placer finds packages in their places, or puts them on the stage of a run.
type placer struct {
	*origins.Session
	dirs    *packagedirs.Dirs
	layout  Layout
	project *project.Project
	stage   *materialize.Stage
	events  *events
	// vendored are the packages in the user's repository; nil if the project has none.
	vendored *vendordir.Packages
	// readOnly places nothing: the modules of packages are read in the cache.
	readOnly bool
}

// installedPackage returns the package that is installed for an entry of the lock
// if it is what the entry says, and nil if it is to be installed again. Files that
// the module added to itself do not matter unless they are configuration.
func (p *placer) installedPackage(ctx context.Context, entry lockfile.Module) (*placement, error) {
	found, done, err := p.inspect(ctx, entry)
	if err != nil {
		return nil, err
	}
	defer done()
	switch {
	case found.Status == installed.Changed:
		warning := Warning{Path: pathOf(entry.Key), Message: "its installed files are not what the lock says; they are replaced" + difference(found)}
		if !found.Changes.Empty() {
			warning.Kind = WarningRestored
		}
		p.events.emit(warning)
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

// difference says which files differ, behind a colon; "" if that is not known.
func difference(found installed.Report) string {
	what := strings.Join(listChanges(found.Changes), ", ")
	if what == "" && found.Err != nil {
		what = found.Err.Error()
	}
	if what == "" {
		return ""
	}
	return ": " + what
}

// fromCache takes the package of an entry of the lock out of the cache. The error
// wraps fs.ErrNotExist if the cache does not have it, or had it damaged.
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

// fromFetch gives a call a package that was fetched.
func (p *placer) fromFetch(ctx context.Context, entry lockfile.Module, subdir string, got *origins.Fetched) (*placement, error) {
	placed, err := p.place(ctx, entry, subdir, got.Tree.T1())
	if err != nil {
		return nil, err
	}
	placed.gitlinks, placed.leftOut = got.Gitlinks, got.LeftOut
	return placed, nil
}

// place gives a call the package with a hash: a private copy if the module is the
// whole package, else the shared tree, into which the call's directory gets links
// when all its modules are known.
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
// Runs use them there if they are what the lock says, and ask no origin: files that
// are committed are trusted like local modules, from which they differ only by the
// lock that says where they are from. That confirms no entry to runs without Vendor.

// placeVendored returns the placement of an entry whose package is vendored; nil if it
// is to be placed like others. confirmed says whether an origin has confirmed it.
func (p *placer) placeVendored(ctx context.Context, entry lockfile.Module, confirmed bool) (*placement, error) {
	if !p.vendored.UsesLocked() {
		return nil, nil
	}
	found, done, err := p.inspect(ctx, entry)
	if err != nil {
		return nil, err
	}
	defer done()
	if found.Status == installed.Verified {
		placed := p.vendoredPlacement(entry, found)
		placed.unconfirmed = !confirmed
		return placed, nil
	}
	if p.vendored.Optional {
		return nil, nil
	}
	return nil, &VendorError{
		Key: entry.Key, Dir: p.dirs.PackageDir(entry.Key), Missing: found.Status == installed.Missing,
		Want: found.Want, Got: found.Got, Changes: found.Changes, Err: found.Err,
	}
}

// inspect compares the package of an entry with the lock, as one piece of the work that is
// done at a time, which lasts until done is called.
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

// stageVendored gives a call the package with a hash, as it is in the directory or as it
// becomes.
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
	placed.currentPath, placed.tree, err = p.vendored.Stage(ctx, p.Cache, entry.Key, t1, found.Status)
	return placed, err
}

// staging is what a run has put on its stage for a call's package.
type staging struct {
	// path becomes the call's directory.
	path string
	// shared is the tree into which it has links; nil if it has none.
	shared *sharedTree
}

// linkSharedTrees makes the directories of the calls that share a tree, now that
// all modules in them are known. It returns what is on the stage for each call, by
// the calls' keys; calls whose packages stay in their places are not among them.
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

// needsLinks reports whether the package's directory is still to be made.
func (p *placement) needsLinks() bool { return p.shared != nil && !p.inPlace }

// moduleDirsOf are the directories of a package in which modules are.
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
