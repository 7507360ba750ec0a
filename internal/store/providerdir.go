package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/versions"
)

// ProviderPath is where stock tools look for a package in a directory of providers:
// HOST/NAMESPACE/TYPE/VERSION/OS_ARCH.
func ProviderPath(provider addrs.Provider, version versions.Version, platform addrs.Platform) string {
	return path.Join(provider.String(), version.String(), platform.String())
}

// ownName is a directory for temporary files, next to the directories of hosts.
const ownName = ".cotter"

// ProviderDir is the directory of a project in which stock tools find providers, usually
// .terraform/providers. Paths are those of [ProviderPath]; concurrent calls for different ones are safe. It
// must be closed.
type ProviderDir struct {
	store *Providers
	path  string // absolute
	root  *os.Root

	mu    sync.Mutex
	stage *stage // nil until it is needed
	// made are the directories that this process has created, parents first.
	made []string
}

// Dir opens, and creates, a project's directory of providers, and removes the temporary files of killed
// processes. Neither it nor the project's data directory that contains it may be a link: the repository
// could bring one, and packages would be written to its target.
func (s *Providers) Dir(name string) (*ProviderDir, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	made := pathsafe.MissingDirs(name)
	base, below := pathsafe.SplitDirs(name, 2)       // the data directory, which the user names, may be below links
	if err := os.MkdirAll(base, 0o755); err != nil { //nolint:gosec // it is no secret
		return nil, err
	}
	d, err := s.openDir(name, base, below, func(root *os.Root, _, name string) error {
		if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.made = made
	if own, err := pathsafe.OpenDir(d.root, d.path, ownName); err == nil {
		removeAbandoned(own, d.Path(ownName), "", providerKind.steps)
		_ = own.Close()
		_ = d.root.Remove(ownName) // if no other process uses it
	}
	return d, nil
}

// ViewDir is [Providers.Dir] without changes. If there is no directory, the error wraps fs.ErrNotExist.
func (s *Providers) ViewDir(name string) (*ProviderDir, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	base, below := pathsafe.SplitDirs(name, 2)
	return s.openDir(name, base, below, nil)
}

func (s *Providers) openDir(name, base string, below []string, prepare func(root *os.Root, dir, name string) error) (*ProviderDir, error) {
	root, err := pathsafe.OpenDirs(base, below, prepare)
	if err != nil {
		return nil, err
	}
	return &ProviderDir{store: s, path: name, root: root}, nil
}

// Close removes temporary files, and directories for packages that were not installed.
func (d *ProviderDir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if d.stage != nil {
		err = d.stage.close()
		_ = d.root.Remove(ownName) // if no other process uses it
		d.stage = nil
	}
	err = errors.Join(err, d.root.Close())
	for _, dir := range slices.Backward(d.made) {
		_ = os.Remove(dir) // fails if it is not empty
	}
	return err
}

// Path is absolute.
func (d *ProviderDir) Path(at string) string { return filepath.Join(d.path, filepath.FromSlash(at)) }

type ProviderState struct {
	// H1 is "" if the package could not be hashed.
	H1 hashing.Hash
	// Target is that of a symbolic link.
	Target string
	// Stored is set for a link to a package of the store.
	Stored bool
	// Err is why stock tools could not use the package. It wraps fs.ErrNotExist if there is nothing, or a
	// link to nothing.
	Err error
}

// Inspect reads the files of a package if full is set, if one has changed since this user last hashed them,
// or if a link leads out of the store, where another user may own them. It stops when ctx ends.
func (d *ProviderDir) Inspect(ctx context.Context, at string, full bool) ProviderState {
	if err := d.checkPath(at); err != nil {
		return ProviderState{Err: err}
	}
	if err := d.checkParents(path.Dir(at)); err != nil {
		return ProviderState{Err: err}
	}
	info, err := d.root.Lstat(filepath.FromSlash(at))
	if err != nil {
		return ProviderState{Err: err}
	}
	var state ProviderState
	if info.Mode().Type() == fs.ModeSymlink {
		if state.Target, err = d.root.Readlink(filepath.FromSlash(at)); err != nil {
			return ProviderState{Err: err}
		}
		target, err := filepath.EvalSymlinks(d.Path(at))
		state.Stored = err == nil && d.store.isStored(target)
	}
	h1, found, err := d.store.hashDir(ctx, d.Path(at), hashOptions{full: full, inProject: info.IsDir()})
	if err != nil {
		state.Err = err
		return state
	}
	state.H1 = h1
	state.Err = executableFault(found.Files, path.Base(path.Dir(path.Dir(at))))
	return state
}

func (d *ProviderDir) Differences(ctx context.Context, pkg *ProviderPackage, at string) hashing.Changes {
	read := func(dir string) *hashing.Tree {
		root, err := pathsafe.OpenRoot(dir)
		if err != nil {
			return nil
		}
		defer root.Close()
		if _, err := list(ctx, root); err != nil {
			return nil // it exceeds the limits
		}
		tree, err := providerzip.ReadRoot(ctx, root)
		if err != nil {
			return nil
		}
		return tree
	}
	want, got := read(pkg.Dir()), read(d.Path(at))
	if want == nil || got == nil {
		return hashing.Changes{}
	}
	return hashing.Diff(want, got)
}

func (d *ProviderDir) checkParents(dir string) error {
	made := ""
	for component := range strings.SplitSeq(dir, "/") {
		made = filepath.Join(made, component)
		info, err := d.root.Lstat(made)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a directory", filepath.Join(d.path, made))
		}
	}
	return nil
}

func executableFault(files []fileState, providerType string) error {
	i := slices.IndexFunc(files, func(f fileState) bool { return providerzip.IsExecutable(f.Path, providerType) })
	switch {
	case i < 0:
		return errors.New("it has no executable")
	case !canRun(files[i].Mode):
		return fmt.Errorf("%s is not executable", files[i].Path)
	}
	return nil
}

func canRun(mode fs.FileMode) bool {
	return runtime.GOOS == "windows" || !mode.IsRegular() || mode&0o111 != 0
}
