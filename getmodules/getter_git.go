package getmodules

import (
	"context"
	"fmt"

	"github.com/cotterpin/cotter/internal/git"
)

// GitGetter is a [Getter] that replaces the git clients of this package, in [Fetcher].Getters["git"]. Get
// writes the tree of one commit as "git checkout" does for a user without settings, without .git, and
// returns the commit as the Revision. [Download.Location] has all arguments, also ref. [Request].Submodules
// is not passed on. Commits that no branch or tag points to are [ReachUnknown], because a GitGetter has no
// history.
type GitGetter interface {
	Getter
	// Refs lists HEAD, the branches and the tags of the repository at from.Location by their full names
	// (refs/tags/v1.0.0), with their commits. Archive, Revision and Path of from are not set.
	Refs(ctx context.Context, from Download) (map[string]string, error)
}

// replaced returns the caller's getter for a kind of address. own reports whether there is an entry, which
// is nil if it removes the kind.
func (f *Fetcher) replaced(kind string) (getter Getter, own bool) {
	getter, own = f.Getters[kind]
	return getter, own
}

// errOwnGetter is for what only the getter of this package can do.
func errOwnGetter(kind, what string) error {
	return fmt.Errorf("%w: %q; the getter that replaces the built-in one cannot %s", ErrUnsupportedScheme, kind, what)
}

func errRemoved(kind string) error {
	return fmt.Errorf("%w: %q; this program has removed it", ErrUnsupportedScheme, kind)
}

func (f *Fetcher) callersRefs(ctx context.Context, req Request, getter Getter) (git.Refs, error) {
	own, ok := getter.(GitGetter)
	switch {
	case getter == nil:
		return nil, errRemoved("git")
	case !ok:
		return nil, errOwnGetter("git", "list refs: it has no method Refs")
	}
	at, err := req.Package.Location()
	if err != nil {
		return nil, err
	}
	from := f.newDownload(req, at)
	from.Revision = ""
	listed, err := own.Refs(ctx, from)
	if err != nil {
		return nil, shownError(err, from.Location.URL())
	}
	refs := git.Refs{}
	for name, commit := range listed {
		refs.Add(commit, name)
	}
	return refs, nil
}

func fetchGitBy(getter Getter) getFunc {
	return func(f *Fetcher, ctx context.Context, req Request) (*Package, error) {
		addr, err := parseGitAddress(req)
		if err != nil {
			return nil, err
		}
		if req.Revision != "" && !git.IsObjectID(req.Revision) {
			return nil, errRevisionForm
		}
		at, err := req.Package.Location()
		if err != nil {
			return nil, err
		}
		pkg, err := f.fetchDownload(ctx, req, getter, f.newDownload(req, at), nil)
		if err != nil {
			return nil, err
		}
		want := git.Want{ID: req.Revision, Ref: addr.ref}.Known()
		if !git.IsObjectID(pkg.Revision) || want != "" && pkg.Revision != want {
			return nil, fmt.Errorf("%w: the getter returned the revision %q, which is not the commit", ErrRevisionNotFound, pkg.Revision)
		}
		pkg.Resolved = addr.resolved(pkg.Revision)
		return pkg, nil
	}
}

type noHistory struct{}

func (noHistory) Commits(context.Context, *git.History, []git.Ref, []string) error {
	return ErrNoHistory
}

func (noHistory) Lacks(context.Context, string) (bool, error) { return false, nil }
