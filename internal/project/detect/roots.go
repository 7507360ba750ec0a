package detect

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/singleflight"
)

type Module struct {
	// Calls are the local paths of called modules, as source addresses, or absolute.
	Calls []string
	Root  bool // looks like a root module
	// Unknown says that the configuration could not be read, so there may be further calls.
	Unknown bool
}

// ModuleReader is called by several goroutines at once.
type ModuleReader func(ctx context.Context, dir string) (Module, error)

// parallel is how many directories are read at once, which is mainly work for the processors.
func parallel() int { return 2 * runtime.GOMAXPROCS(0) }

// Roots returns the directories at and below dir with modules that look like root modules and that no other
// module there calls, sorted. It skips directories whose names begin with a dot and those that skip, if not nil,
// reports by their paths from dir, and does not follow links.
func Roots(ctx context.Context, dir string, skip func(dir string) bool, read ModuleReader) ([]string, error) {
	dirs, err := directories(ctx, dir, skip)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	isRoot, called := map[string]bool{}, map[string]bool{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel())
	for _, dir := range dirs {
		group.Go(func() error {
			found, err := read(ctx, dir)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			isRoot[dir] = found.Root
			for _, source := range found.Calls {
				called[pathsafe.Inside(dir, filepath.FromSlash(source))] = true
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !isRoot[dir] || called[filepath.Clean(dir)] }), nil
}

func directories(ctx context.Context, dir string, skip func(dir string) bool) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return ctx.Err()
		case name != dir && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case name != dir && skip != nil:
			if rel, err := filepath.Rel(dir, name); err == nil && skip(rel) {
				return fs.SkipDir
			}
		}
		dirs = append(dirs, name)
		return nil
	})
	return dirs, err
}

// ChangedRoots returns the root modules in dirs that changed files affect: their own files, and those of the
// modules that they call directly or indirectly. A file belongs to the innermost of all these directories,
// so a change in envs/prod does not affect a root module in envs. Files below .terraform are ignored. The
// files need not exist any more.
//
// concerns reports whether other files affect a root module. It gets its directory and the changed files as
// absolute paths without symbolic links. A root module with an Unknown part counts as changed.
func ChangedRoots(ctx context.Context, dirs, files []string, read ModuleReader, concerns func(root string, changed map[string]bool) bool) ([]string, error) {
	trees, err := localTrees(ctx, dirs, read)
	if err != nil {
		return nil, err
	}
	owners := make(map[string]bool) // the directories of modules; the value reports whether a file has changed
	for _, tree := range trees {
		for _, dir := range tree.dirs {
			owners[dir] = false
		}
	}
	changed := make(map[string]bool)
	for _, file := range files {
		file, err := realPath(file)
		if err != nil {
			return nil, err
		}
		changed[file] = true
		for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
			if _, known := owners[dir]; known {
				owners[dir] = owners[dir] || !slices.Contains(strings.Split(file[len(dir):], string(filepath.Separator)), ".terraform")
				break
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	var found []string
	for i, dir := range dirs {
		if trees[i].unknown || slices.ContainsFunc(trees[i].dirs, func(dir string) bool { return owners[dir] }) || concerns(trees[i].dirs[0], changed) {
			found = append(found, dir)
		}
	}
	return found, nil
}

// localTree is a root module with the modules that it calls by local paths, directly or indirectly.
type localTree struct {
	dirs    []string // the root module's directory first, in the form of realPath
	unknown bool     // there may be further modules
}

func localTrees(ctx context.Context, roots []string, read ModuleReader) ([]localTree, error) {
	reader := &localCalls{read: read}
	trees := make([]localTree, len(roots))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel())
	for i, root := range roots {
		group.Go(func() error {
			dir, err := realPath(root)
			if err != nil {
				return err
			}
			trees[i] = reader.tree(ctx, dir)
			return ctx.Err()
		})
	}
	return trees, group.Wait()
}

// localCalls reads each directory only once.
type localCalls struct {
	read  ModuleReader
	calls singleflight.Memo[string, localSource] // by directory
}

type localSource struct {
	calls   []string
	unknown bool
}

func (r *localCalls) tree(ctx context.Context, root string) localTree {
	tree := localTree{dirs: []string{root}}
	for i := 0; i < len(tree.dirs); i++ {
		m := r.module(ctx, tree.dirs[i])
		tree.unknown = tree.unknown || m.unknown
		for _, dir := range m.calls {
			if !slices.Contains(tree.dirs, dir) {
				tree.dirs = append(tree.dirs, dir)
			}
		}
	}
	return tree
}

func (r *localCalls) module(ctx context.Context, dir string) localSource {
	m, err := r.calls.Do(ctx, dir, func(ctx context.Context) (m localSource, _ error) {
		found, err := r.read(ctx, dir)
		m.unknown = err != nil || found.Unknown
		for _, source := range found.Calls {
			called, err := realPath(pathsafe.Inside(dir, filepath.FromSlash(source)))
			m.calls, m.unknown = append(m.calls, called), m.unknown || err != nil
		}
		return m, nil
	})
	m.unknown = m.unknown || err != nil
	return m
}

// realPath resolves the symbolic links in the part of a path that exists.
func realPath(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	for dir := name; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, name[len(dir):]), nil
		}
		if dir == filepath.Dir(dir) {
			return name, nil
		}
	}
}
