package roots

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Module is what is known of the module in a directory.
type Module struct {
	// Calls are the local paths by which it calls other modules, as in source addresses.
	Calls []string
	// Root says that it looks like a root module.
	Root bool
	// Unknown says that its configuration could not be read, so that it may call others.
	Unknown bool
}

// Reader reads the module in a directory. It is called from several goroutines.
type Reader func(ctx context.Context, dir string) (Module, error)

// parallel is how many directories are read at once, which is work for processors.
func parallel() int { return 2 * runtime.GOMAXPROCS(0) }

// Find returns the directories at and below dir with modules that look like root modules
// and that no other module there calls. Directories whose names begin with a dot are
// passed over, as are those for which skip reports true, and links are not followed. The
// paths begin with dir and are sorted. The error is about directories that cannot be
// listed, the reader's, or ctx's.
func Find(ctx context.Context, dir string, skip func(dir string) bool, read Reader) ([]string, error) {
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
				called[filepath.Join(dir, filepath.FromSlash(source))] = true
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !isRoot[dir] || called[filepath.Clean(dir)] }), nil
}

// directories are those at and below dir that may hold somebody's modules.
func directories(ctx context.Context, dir string, skip func(dir string) bool) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return ctx.Err()
		case name != dir && (strings.HasPrefix(entry.Name(), ".") || skip(name)):
			return fs.SkipDir
		}
		dirs = append(dirs, name)
		return nil
	})
	return dirs, err
}

// Changed returns those of the root modules in dirs that changed files concern: a root
// module's own files, and those of modules that it calls, and they in turn. A file belongs
// to the innermost of all these modules' directories that has it, so a change in envs/prod
// does not concern a root module in envs. Files below .terraform do not matter. Files may
// be gone.
//
// concerns reports whether files elsewhere concern a root module. It gets the module's
// directory and the changed files by their absolute paths, both without symbolic links.
// Root modules with a part that is Unknown count as changed.
func Changed(ctx context.Context, dirs, files []string, read Reader, concerns func(root string, changed map[string]bool) bool) ([]string, error) {
	trees, err := localTrees(ctx, dirs, read)
	if err != nil {
		return nil, err
	}
	owners := make(map[string]bool) // directories of modules, and whether they have changed
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

// localTree is a root module and the modules that it calls by local paths, and they in
// turn.
type localTree struct {
	dirs []string // the root module's first, as realPath has them
	// unknown says that there may be others.
	unknown bool
}

// localTrees reads the trees of root modules. Each directory is read once.
func localTrees(ctx context.Context, roots []string, read Reader) ([]localTree, error) {
	reader := &localCalls{read: read, calls: make(map[string]*localSource)}
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

// localCalls reads which modules call which by local paths.
type localCalls struct {
	read  Reader
	mu    sync.Mutex
	calls map[string]*localSource // by their directories
}

// localSource is a directory that is read once.
type localSource struct {
	once    sync.Once
	calls   []string
	unknown bool
}

// tree follows the local calls from a root module.
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

// module reads a directory, once.
func (r *localCalls) module(ctx context.Context, dir string) *localSource {
	r.mu.Lock()
	m := r.calls[dir]
	if m == nil {
		m = &localSource{}
		r.calls[dir] = m
	}
	r.mu.Unlock()
	m.once.Do(func() {
		found, err := r.read(ctx, dir)
		m.unknown = err != nil || found.Unknown
		for _, source := range found.Calls {
			called, err := realPath(filepath.Join(dir, filepath.FromSlash(source)))
			m.calls, m.unknown = append(m.calls, called), m.unknown || err != nil
		}
	})
	return m
}

// realPath returns the absolute path of a file without symbolic links, as far as it
// exists.
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
