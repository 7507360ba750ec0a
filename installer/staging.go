package installer

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/lockfile"
)

type stager struct {
	*origins.Client
	project *openProject
	layout  Layout
	stage   *packagedir.Stage
	events  *events
	// readOnly says that nothing is placed: modules of packages are read from the cache.
	readOnly   bool
	mismatches *mismatches
}

// installedPackage returns the installed package of an entry if it matches, or nil if it has to be installed
// again. Files that the module has added to itself do not matter unless they are configuration.
func (s *stager) installedPackage(ctx context.Context, entry lockfile.Module) (*placement, error) {
	found, done, err := s.inspect(ctx, entry)
	if err != nil {
		return nil, err
	}
	defer done()
	switch {
	case found.Status == packagedir.Changed:
		s.mismatches.add(ctx, s.project, entry, found)
		return nil, nil
	case found.Status != packagedir.Verified:
		return nil, nil
	}
	return s.placementOf(entry, found), nil
}

// recordedPackage returns the installed package of a call by its record in modules.json, and the module's
// directory in it; nil if it is not in the call's directory or cannot be read.
func (s *stager) recordedPackage(ctx context.Context, c *call, record project.ManifestRecord) (*placement, string, error) {
	dir := s.project.dirs.PackageDir(c.Key())
	if s.project.files == nil || !pathsafe.Within(path.Clean(record.Dir), dir) {
		return nil, "", nil
	}
	entry := lockfile.Module{Key: c.Key(), Version: versionOf(record.Version), Source: c.From.LockAddress(), Constraints: c.From.Recorded}
	found, done, err := s.inspect(ctx, entry)
	if err != nil {
		return nil, "", err
	}
	defer done()
	if found.Files == nil {
		return nil, "", nil
	}
	subdir, err := found.Files.Subdir(strings.Trim(strings.TrimPrefix(path.Clean(record.Dir), dir), "/"))
	if err != nil {
		return nil, "", nil //nolint:nilerr // it is installed again
	}
	found.Tree, entry.Hashes = found.Files, []hashing.Hash{found.Files.H1(), found.Files.T1()}
	return s.placementOf(entry, found), subdir, nil
}

// placementOf returns the placement of an entry whose package is in its place.
func (s *stager) placementOf(entry lockfile.Module, found packagedir.Report) *placement {
	placed := s.project.newPlacement(entry, found.Tree)
	if found.SharedTree != "" {
		placed.shared = &sharedTree{Name: found.SharedTree, Path: s.project.files.TreePath(found.SharedTree), Tree: found.Tree}
		placed.Files, placed.inPlace = project.FilesIn(placed.shared.Path), true
	}
	return placed
}

// fromCache places the package of an entry from the cache. The error wraps fs.ErrNotExist if the cache does not
// have it, or had a damaged copy.
func (s *stager) fromCache(ctx context.Context, entry lockfile.Module, subdir string) (*placement, error) {
	t1 := entry.Hash("t1")
	if t1 == "" || !s.Cache.Has(t1) {
		return nil, fs.ErrNotExist
	}
	placed, err := s.stagePackage(ctx, entry, subdir, t1)
	if err != nil {
		return nil, err
	}
	if mismatch := mismatchOf(entry.Hashes, placed.tree); mismatch != nil {
		mismatch.Path, mismatch.Package = pathOf(entry.Key), entry.Package.String()
		return nil, mismatch
	}
	return placed, nil
}

func (s *stager) fromFetch(ctx context.Context, entry lockfile.Module, subdir string, got *origins.Fetched) (*placement, error) {
	placed, err := s.stagePackage(ctx, entry, subdir, got.Tree.T1())
	if err != nil {
		return nil, err
	}
	placed.gitlinks, placed.leftOut = got.Gitlinks, got.LeftOut
	return placed, nil
}

// stagePackage stages a package for a call. If the module is the whole package, the call gets a private copy.
// Otherwise it becomes a shared tree, to which the call's directory links once all of its modules are known.
func (s *stager) stagePackage(ctx context.Context, entry lockfile.Module, subdir string, t1 hashing.Hash) (*placement, error) {
	placed := s.project.newPlacement(entry, nil)
	var err error
	switch {
	case s.readOnly:
		placed.Files = project.FilesIn(s.Cache.TreePath(t1))
		placed.tree, err = s.readCached(ctx, t1)
	case s.layout == LayoutCopy || subdir == "":
		placed.staged, placed.tree, err = s.stage.Copy(ctx, entry.Key, t1)
		placed.Files = project.FilesIn(placed.staged)
	default:
		if placed.shared, err = s.stage.Shared(ctx, t1); err == nil {
			placed.Files, placed.tree = project.FilesIn(placed.shared.Path), placed.shared.Tree
		}
	}
	if errors.Is(err, store.ErrDamaged) {
		s.events.warn(pathOf(entry.Key), "its package in the cache was damaged; it was set aside")
		err = errors.Join(fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, err
	}
	return placed, nil
}

func (s *stager) readCached(ctx context.Context, t1 hashing.Hash) (*store.Tree, error) {
	done, err := s.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return s.Cache.Read(ctx, t1)
}

// inspect compares the package of an entry with the lock. done releases its slot of the pool.
func (s *stager) inspect(ctx context.Context, entry lockfile.Module) (_ packagedir.Report, done func(), err error) {
	if done, err = s.Slot(ctx); err != nil {
		return packagedir.Report{}, nil, err
	}
	found := s.project.dirs.Inspect(ctx, entry)
	if err := ctxerr.Of(ctx); err != nil {
		done()
		return packagedir.Report{}, nil, err
	}
	return found, done, nil
}

// staging is what a run has staged for a call's package.
type staging struct {
	// path is the staged directory that becomes the call's directory.
	path string
	// shared is the tree that the directory links to; nil if it has no links.
	shared *sharedTree
}

// linkSharedTrees creates the directories of calls that use a shared tree, when all modules in the packages are
// known. It returns what is staged, by key, without packages that stay in their places.
func (s *stager) linkSharedTrees(ctx context.Context, modules []*module) (map[string]staging, error) {
	var owners []*module
	for _, m := range modules {
		if m.OwnsPackage() && (placed(m).staged != "" || placed(m).needsLinks()) {
			owners = append(owners, m)
		}
	}
	stagings := make([]staging, len(owners))
	group, ctx := errgroup.WithContext(ctx)
	for i, m := range owners {
		if !placed(m).needsLinks() {
			stagings[i] = staging{path: placed(m).staged}
			continue
		}
		group.Go(func() error {
			path, linked, err := s.stage.Link(ctx, m.Package.Key, placed(m).shared, moduleDirsOf(m.Package, modules))
			stagings[i].path = path
			if linked {
				stagings[i].shared = placed(m).shared
			}
			return m.Call.FailIf(err)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	byKey := make(map[string]staging, len(owners))
	for i, m := range owners {
		byKey[m.Package.Key] = stagings[i]
	}
	return byKey, nil
}

func (p *placement) needsLinks() bool { return p.shared != nil && !p.inPlace }

func moduleDirsOf(pkg *treewalk.Package, modules []*module) []string {
	var dirs []string
	for _, m := range modules {
		if m.Package == pkg {
			dirs = append(dirs, path.Clean(m.Subdir))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
