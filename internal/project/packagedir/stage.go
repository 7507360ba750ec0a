package packagedir

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
)

// Stage puts packages into the staging directory of one run. It is safe for concurrent use. All exported
// fields must be set.
type Stage struct {
	Project *project.Project
	Cache   *store.Modules
	// KeepsModes says that the project's file system has executable bits.
	KeepsModes bool
	// Slot waits for a free slot, until release is called.
	Slot func(context.Context) (release func(), err error)

	shared singleflight.Group[hashing.Hash, *Shared]
	links  links
}

type Shared struct {
	Name string
	// Path has the tree's files until the end of the run.
	Path string
	// Staged says that Path is in the staging directory, because the project does not have the tree yet.
	Staged bool
	Tree   *store.Tree
}

// Copy makes a private copy of the package with a t1 hash, under a name in the staging directory.
func (s *Stage) Copy(ctx context.Context, name string, t1 hashing.Hash) (path string, tree *store.Tree, err error) {
	release, err := s.Slot(ctx)
	if err != nil {
		return "", nil, err
	}
	defer release()
	stage, err := s.Project.Stage()
	if err != nil {
		return "", nil, err
	}
	tree, err = s.Cache.CopyTo(ctx, stage, name, t1, !s.KeepsModes)
	if err != nil {
		return "", nil, err
	}
	return s.Project.StagePath(name), tree, nil
}

func (s *Stage) Shared(ctx context.Context, t1 hashing.Hash) (*Shared, error) {
	return s.shared.Do(ctx, t1, func(ctx context.Context) (*Shared, error) {
		name := project.TreeName(t1)
		tree, err := s.readShared(ctx, name)
		if err == nil && tree.T1() == t1 {
			return &Shared{Name: name, Path: s.Project.TreePath(name), Tree: tree}, nil
		}
		path, tree, err := s.Copy(ctx, "@"+name, t1) // no module call has a key with "@"
		if err != nil {
			return nil, err
		}
		return &Shared{Name: name, Path: path, Staged: true, Tree: tree}, nil
	})
}

func (s *Stage) readShared(ctx context.Context, name string) (*store.Tree, error) {
	release, err := s.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return store.ReadTree(ctx, s.Project.TreePath(name))
}

// links creates symbolic links; if possible, those with the same target are hard links to one: a hundred
// calls of one package have ten thousand links, each of which would need an inode. A symbolic link cannot
// be written to, so no call can change another's.
type links struct {
	made sync.Map // maps a target to the name of a link to it in the staging directory
}

func (l *links) add(stage *os.Root, target, name string) error {
	target = filepath.FromSlash(target)
	// Elsewhere than on Linux, a hard link to a symbolic link may become a link to its target.
	if first, ok := l.made.Load(target); ok && runtime.GOOS == "linux" && stage.Link(first.(string), name) == nil {
		return nil
	}
	if err := stage.Symlink(target, name); err != nil {
		return err
	}
	l.made.Store(target, name)
	return nil
}
