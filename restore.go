package cotter

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// maxHeadLock bounds the lock in git's last commit, as lockfile bounds locks.
const maxHeadLock = 32 << 20

// ErrNothingToRestore says that neither the copy of the lock nor git's last
// commit has entries that the lock lacks.
var ErrNothingToRestore = errors.New("there are no module entries to restore: neither the copy of the last run nor the last commit has one that the lock lacks")

// Restored is what Restore put back.
type Restored struct {
	// From says where the entries were: "the copy of the last run" or
	// "git show HEAD:FILE".
	From string
	// Keys are those of the entries.
	Keys []string
}

// Restore puts back the module entries that the lock has lost: those of the copy
// that the last run kept, or else those of the last commit in git. It does only
// that. Entries of calls that the configuration no longer has, or has with
// another source or constraint, are left out. The error is [ErrNothingToRestore]
// if there is nothing to put back.
func (in *Installer) Restore(ctx context.Context, req Request) (_ *Restored, err error) {
	events := &events{fn: in.OnEvent}
	key, err := in.userKey(events)
	if err != nil {
		return nil, err
	}
	work, err := project.Open(ctx, req.location(), key, func() { events.emit(Waiting{Dir: req.dir()}) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	in.warnOfFindings(events, work.Findings())
	for _, source := range []struct {
		from string
		read func() ([]byte, error)
	}{
		{"the copy of the last run", func() ([]byte, error) { return work.FormerLock(), nil }},
		{"git show HEAD:" + req.lockFile(), func() ([]byte, error) { return lockOfHead(ctx, req) }},
	} {
		src, err := source.read()
		if err != nil {
			continue // the history is optional
		}
		keys, err := in.restoreFrom(ctx, req, work, src)
		if len(keys) > 0 || err != nil {
			return &Restored{From: source.from, Keys: keys}, err
		}
	}
	return nil, ErrNothingToRestore
}

// restoreFrom puts back what an earlier lock has and the lock lacks, and returns
// the keys of that.
func (in *Installer) restoreFrom(ctx context.Context, req Request, work *project.Project, earlier []byte) ([]string, error) {
	former, diags := lockfile.Parse(earlier, "")
	if diags.HasErrors() {
		return nil, nil
	}
	src, err := work.Lock()
	if err != nil {
		return nil, req.unusableLock(err)
	}
	lock, err := parseLock(src, req)
	if err != nil {
		return nil, err
	}
	var lost []lockfile.Module
	for _, entry := range former.Modules() {
		if _, has := lock.Module(entry.Key); !has {
			lost = append(lost, entry)
			lock.SetModule(entry)
		}
	}
	if len(lost) == 0 {
		return nil, nil
	}
	unfit, err := in.unfitEntries(ctx, req, lock)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, entry := range lost {
		if unfit[entry.Key] {
			lock.RemoveModule(entry.Key)
			continue
		}
		keys = append(keys, entry.Key)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	if err := lock.Check(); err != nil {
		return nil, err
	}
	return keys, work.WriteLock(src, lock.Bytes())
}

// unfitEntries are the keys of a lock's entries that are of no use to the
// configuration. What cannot be known, because a module is not installed, is
// not among them.
func (in *Installer) unfitEntries(ctx context.Context, req Request, lock *lockfile.File) (map[string]bool, error) {
	l, err := in.loader(ctx, req)
	if err != nil {
		return nil, err
	}
	l.lock = lock
	nodes, failures, err := l.surveyBy(ctx, l.resolveLocked)
	if err != nil {
		return nil, err
	}
	unfit := make(map[string]bool)
	for _, key := range goneEntries(lock, nodes, failures) {
		unfit[key] = true
	}
	for _, f := range failures.sorted() {
		var stale *ModuleError
		if errors.As(f.err, &stale) && !errors.Is(f.err, ErrNotInstalled) {
			unfit[f.node.path.String()] = true
		}
	}
	return unfit, ctx.Err()
}

// goneEntries are the keys of a lock's entries whose calls the configuration does
// not have, as far as it could be read.
func goneEntries(lock *lockfile.File, nodes []*node, failures *failures) []string {
	known := make(map[string]bool)
	for _, n := range nodes {
		known[n.path.String()] = true
	}
	var gone []string
	for _, entry := range lock.Modules() {
		if !known[entry.Key] && !failures.atOrAbove(splitKey(entry.Key)) {
			gone = append(gone, entry.Key)
		}
	}
	return gone
}

// atOrAbove reports whether something went wrong with a module or one of those
// that lead to it.
func (f *failures) atOrAbove(path addrs.Module) bool {
	for _, failure := range f.sorted() {
		at := failure.node.path
		if len(at) <= len(path) && at.String() == path[:len(at)].String() {
			return true
		}
	}
	return false
}

// lockOfHead is the lock in the last commit of the project's repository.
func lockOfHead(ctx context.Context, req Request) ([]byte, error) {
	var git gitexec.Git
	name := "HEAD:./" + filepath.ToSlash(req.lockFile())
	return git.Output(ctx, gitexec.Command{Args: []string{"-C", req.dir(), "show", "--no-textconv", "--end-of-options", name}}, maxHeadLock)
}
