package treewalk

import (
	"context"
	"errors"
	"slices"

	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

// Tree is the module tree of a project as it is installed or locked.
type Tree struct {
	Modules  []*Module // below the root module, sorted by path
	Calls    []*Call   // all, also those whose module was not found
	Failures *Failures
	// FromLock says that some modules are known only from the lock.
	FromLock bool
}

// ErrNoLock says that a project has neither configuration nor a lock, so its modules are not known.
var ErrNoLock = errors.New("there is no lock")

// Installed walks the modules that modules.json records. With fromLock, those that are not installed are taken from the
// lock, and all of them if there is no configuration; tests is the directory of tests. It sets Find. The error
// is about the walk as a whole: that of ctx, or ErrNoLock.
func (w *Walker) Installed(ctx context.Context, fromLock bool, tests string) (Tree, error) {
	w.Find = w.Project.recordedModule
	if fromLock {
		w.Find = w.Project.recordedOrLocked
	}
	t := w.tree(ctx)
	if err := ctxerr.Of(ctx); err != nil || !fromLock {
		return t, err
	}
	if len(t.Modules) == 0 && len(t.Failures.Errs()) == 0 && w.Project.IsWithoutConfiguration(tests) {
		if w.Project.LockSrc == nil {
			return Tree{}, ErrNoLock
		}
		return w.Locked(ctx)
	}
	t.FromLock = slices.ContainsFunc(t.Modules, (*Module).IsLocked)
	t.Modules = slices.DeleteFunc(t.Modules, (*Module).isMadeUp)
	return t, ctxerr.Of(ctx)
}

// Locked walks the modules that the lock has, which require nothing. Those of them that are installed have directories. It
// sets Find, Root and Require.
func (w *Walker) Locked(ctx context.Context) (Tree, error) {
	w.Find, w.Root, w.Require = w.Project.recordedOrLocked, &Module{FinalPath: "."}, nil
	t := w.tree(ctx)
	t.Modules, t.FromLock = slices.DeleteFunc(t.Modules, (*Module).isMadeUp), true
	return t, ctxerr.Of(ctx)
}

func (w *Walker) tree(ctx context.Context) (t Tree) {
	t.Modules, t.Calls, t.Failures = w.Walk(ctx)
	return t
}
