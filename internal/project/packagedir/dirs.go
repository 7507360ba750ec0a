package packagedir

import (
	"context"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Dirs are the directories of a project's packages, with what was read of the packages. It is safe for concurrent
// use.
type Dirs struct {
	*project.Dirs
	// KeepsModes says that the file system of the data directory has executable bits.
	KeepsModes bool

	// project is nil without a modules directory. Then all installed packages are missing.
	project *project.Project

	locked      singleflight.Memo[hashing.Hash, *store.Tree]
	sharedTrees singleflight.Memo[string, *store.Tree]

	stopped atomic.Bool
	reader  sync.WaitGroup
}

// NewDirs reads no package. modulesDir is relative to the root module or absolute.
func NewDirs(p *project.Project, root, modulesDir, modulesPath string) *Dirs {
	return &Dirs{Dirs: project.NewDirs(p, root, modulesDir, modulesPath), KeepsModes: p == nil || p.KeepsModes(), project: p}
}

// LockedTree is the tree from which an entry was made, by the recorded sums; nil if there are none or they do
// not match.
func (d *Dirs) LockedTree(entry lockfile.Module) *store.Tree {
	t1 := entry.Hash("t1")
	if t1 == "" || d.project == nil {
		return nil
	}
	tree, err := d.locked.Do(context.Background(), t1, func(context.Context) (*store.Tree, error) {
		text, err := d.project.Sums(store.FileName(t1))
		if err != nil {
			return nil, err
		}
		parsed, err := hashing.ParseTree(text)
		if err != nil {
			return nil, err
		}
		if tree := store.NewTree(parsed); tree.T1() == t1 {
			return tree, nil
		}
		return nil, fs.ErrNotExist
	})
	if h1 := entry.Hash("h1"); err != nil || h1 != "" && h1 != tree.H1() {
		return nil // the tree is not recorded, or has another h1 than the entry
	}
	return tree
}
