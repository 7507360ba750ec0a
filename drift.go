package cotter

import (
	"context"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions/gittags"
)

// MovedError says that the name by which a package was locked leads elsewhere
// than the lock: somebody has moved a tag, a registry has another answer, or the
// lock was edited.
type MovedError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Name is the name: "tag v1.2.0", "commit 7c1f...", "digest sha256:...".
	Name string
	// Locked is the revision that the lock has, Now the one that the name leads
	// to.
	Locked, Now string
}

func (e *MovedError) Error() string {
	what := fmt.Sprintf("%s moved %s -> %s, or the lock was edited", e.Name, e.Locked, e.Now)
	if strings.HasSuffix(e.Name, e.Now) { // it names what it leads to
		what = fmt.Sprintf("the lock has %s, and the source means %s: the lock was edited, or the registry has another answer now", e.Locked, e.Name)
	}
	return fmt.Sprintf("%s; cotter update %s --accept-changed %s takes what is there now", what, e.Key, e.Key)
}

// checkName asks where the name of an entry leads, if nobody has asked before.
func (r *run) checkName(ctx context.Context, n *node, entry lockfile.Module) error {
	if !r.asksName(n, entry) {
		return nil
	}
	at, err := r.locate(ctx, n, entry.Version)
	if err != nil {
		return err
	}
	if err := r.drift(ctx, n, entry, at, true); err != nil {
		return n.failOnce(err)
	}
	r.confirm(n, entry, true)
	return nil
}

// startDrift is drift beside what else is to be done.
func (r *run) startDrift(ctx context.Context, n *node, entry lockfile.Module, at location, ask bool) <-chan error {
	found := make(chan error, 1)
	go func() { found <- r.drift(ctx, n, entry, at, ask) }()
	return found
}

// drift compares an entry with where its name leads; without ask, only with a
// name that says so itself. It is nil where both agree, and for what is there to
// move: branches, and tags that are no versions. Otherwise it is a *MovedError,
// or why there is no telling.
func (r *run) drift(ctx context.Context, n *node, entry lockfile.Module, at location, ask bool) error {
	locked := revisionOf(entry.Package)
	if locked == "" {
		return nil
	}
	if n.ranged && at.from == nil && ask {
		var err error
		if at, err = r.origin(ctx, n, entry); err != nil {
			return err
		}
	}
	name, exact := at.pkg.Ref()
	if exact && name == locked {
		return nil
	}
	if !exact && !(ask && (n.ranged || at.from != nil || isVersionTag(name, n.source))) {
		return nil
	}
	reference, err := r.leadsTo(ctx, n, at, locked)
	switch {
	case err != nil:
		return err
	case reference.Revision == locked || !exact && reference.Kind != getmodules.ReferenceTag:
		return nil
	}
	return &MovedError{Key: entry.Key, Name: reference.String(), Locked: locked, Now: reference.Revision}
}

// isVersionTag reports whether a tag has the name of one version, so that it is
// never to move.
func isVersionTag(name string, source addrs.ModuleSource) bool {
	remote, _ := source.(addrs.ModuleSourceRemote)
	return len(gittags.Candidates([]gittags.Tag{{Name: name}}, remote.Subdir)) > 0
}
