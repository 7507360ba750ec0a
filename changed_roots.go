package cotter

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
)

// ChangedRoots returns those of the root modules in dirs that changed files concern: a
// root module's own files, those of modules that it calls by local paths, and they in
// turn, its lock, and the cotter.hcl that applies to it. A file belongs to the innermost
// of all these modules' directories that has it, so a change in envs/prod does not
// concern a root module in envs. Files may be gone. The request says what the lock is
// called, and the dialect.
//
// A root module with configuration that cannot be read, or with local paths that are not
// known without values of variables, counts as changed.
func (in *Installer) ChangedRoots(ctx context.Context, dirs, files []string, req Request) ([]string, error) {
	trees, err := in.localTrees(ctx, dirs, req.Dialect)
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
				owners[dir] = !slices.Contains(strings.Split(file[len(dir):], string(filepath.Separator)), ".terraform")
				break
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	var found []string
	for i, dir := range dirs {
		if trees[i].unknown || slices.ContainsFunc(trees[i].dirs, func(dir string) bool { return owners[dir] }) || hasChangedFile(trees[i].dirs[0], changed, req) {
			found = append(found, dir)
		}
	}
	return found, nil
}

// hasChangedFile reports whether the lock or the settings of a root module are among
// changed files.
func hasChangedFile(root string, changed map[string]bool, req Request) bool {
	lock := req.lockFile()
	if !filepath.IsAbs(lock) {
		lock = filepath.Join(root, lock)
	}
	if changed[lock] {
		return true
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		if changed[filepath.Join(dir, policyFileName)] {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// localTree is a root module and the modules that it calls by local paths, and they in
// turn.
type localTree struct {
	dirs []string // the root module's first, as realPath has them
	// unknown says that there may be others.
	unknown bool
}

// localTrees reads the trees of root modules. Each directory is read once.
func (in *Installer) localTrees(ctx context.Context, roots []string, dialect Dialect) ([]localTree, error) {
	reader := &localCalls{installer: in, dialect: dialect, calls: make(map[string]*localSource)}
	trees := make([]localTree, len(roots))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // reading is work for processors
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
	installer *Installer
	dialect   Dialect
	mu        sync.Mutex
	calls     map[string]*localSource // by their directories
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
		config, err := r.installer.config(Request{Dir: dir})
		if err != nil {
			m.unknown = true
			return
		}
		found, diags := config.ReadModule(ctx, ConfigDir{Dir: dir, Display: dir, Dialect: r.dialect})
		m.unknown = diags.HasErrors()
		for _, call := range found.Calls {
			source, err := addrs.ParseModuleSource(call.Source)
			if local, ok := source.(addrs.ModuleSourceLocal); ok && err == nil {
				called, err := realPath(filepath.Join(dir, filepath.FromSlash(local.String())))
				m.calls, m.unknown = append(m.calls, called), m.unknown || err != nil
			}
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
