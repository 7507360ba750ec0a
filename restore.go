package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/gitcmd"
	"github.com/cotterpin/cotter/internal/workdir"
	"github.com/cotterpin/cotter/lockfile"
)

// Stock tools know no module blocks in the lock. They leave them alone as long
// as the providers stay the same, and drop all of them when they rewrite the
// file. So a copy of the lock is kept beside the modules, and what was dropped
// is put back: to choose anew in silence would make the lock worthless.

// maxHeadLock bounds the lock in git's last commit, as lockfile bounds locks.
const maxHeadLock = 32 << 20

// ErrNothingToRestore says that neither the copy of the lock nor git's last
// commit has entries that the lock lacks.
var ErrNothingToRestore = errors.New("there are no module entries to restore: the lock has some, or neither its copy nor the last commit does")

// Restored is what Restore put back.
type Restored struct {
	// From says where the entries were: "the copy of the last run" or
	// "git show HEAD:FILE".
	From string
	// Keys are those of the entries.
	Keys []string
}

// Restore puts the module entries back into a lock that has lost all of them,
// from the copy that the last run kept, or else from the last commit in git. It
// does only that. The error is [ErrNothingToRestore] where there is nothing.
func (in *Installer) Restore(ctx context.Context, req Request) (*Restored, error) {
	project, err := os.OpenRoot(req.dir())
	if err != nil {
		return nil, err
	}
	defer project.Close()
	lock, err := lockfile.ReadFile(project, req.lockFile())
	if err != nil {
		return nil, asLockFileError(req, err)
	}
	if len(lock.Modules()) > 0 {
		return nil, ErrNothingToRestore
	}
	for _, source := range []struct {
		from string
		read func() ([]byte, error)
	}{
		{"the copy of the last run", func() ([]byte, error) { return lockCopy(req) }},
		{"git show HEAD:" + req.lockFile(), func() ([]byte, error) { return lockOfHead(ctx, req) }},
	} {
		src, err := source.read()
		if err != nil {
			continue // the copy and the history are optional
		}
		if keys := putBack(lock, src); len(keys) > 0 {
			_, err := lock.WriteFile(project, req.lockFile())
			return &Restored{From: source.from, Keys: keys}, err
		}
	}
	return nil, ErrNothingToRestore
}

// putBack adds the module entries of another lock and returns their keys.
func putBack(lock *lockfile.File, src []byte) []string {
	former, diags := lockfile.Parse(src, "")
	if diags.HasErrors() {
		return nil
	}
	var keys []string
	for _, entry := range former.Modules() {
		lock.SetModule(entry)
		keys = append(keys, entry.Key)
	}
	return keys
}

func lockCopy(req Request) ([]byte, error) {
	work, err := workdir.View(req.dataPath())
	if err != nil {
		return nil, err
	}
	defer work.Close()
	return work.LockCopy()
}

// lockOfHead is the lock in the last commit of the project's repository.
func lockOfHead(ctx context.Context, req Request) ([]byte, error) {
	var git gitcmd.Git
	name := "HEAD:./" + filepath.ToSlash(req.lockFile())
	return git.Output(ctx, gitcmd.Command{Args: []string{"-C", req.dir(), "show", "--no-textconv", "--end-of-options", name}}, maxHeadLock)
}

// heal puts entries back that were dropped since the last run. A lock that is
// gone altogether was removed by somebody who wants a new one.
func (r *run) heal() error {
	if r.lockSrc == nil || len(r.lock.Modules()) > 0 {
		return nil
	}
	src, err := r.work.LockCopy()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.req.Locked {
		if former, diags := lockfile.Parse(src, ""); !diags.HasErrors() && len(former.Modules()) > 0 {
			return fmt.Errorf("the module entries of %s have vanished, as when tofu or terraform rewrite it; run cotter restore", r.req.lockFile())
		}
		return nil
	}
	if r.healed = putBack(r.lock, src); len(r.healed) > 0 {
		r.warn(nil, fmt.Sprintf("%s had lost its %d module entries, as when tofu or terraform rewrite it; they are put back from the copy of the last run", r.req.lockFile(), len(r.healed)))
	}
	return nil
}

func asLockFileError(req Request, err error) error {
	if diags, ok := asDiagnostics(err); ok {
		return &LockFileError{File: req.lockFile(), Diagnostics: diags}
	}
	return err
}
