package getmodules

import (
	"cmp"
	"context"
	"fmt"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

const (
	// The search for commits in a history is bounded: a commit takes about 300 bytes of a transfer.
	defaultHistoryCommits = 50_000
	defaultHistoryBytes   = 64 << 20
)

func (l Limits) history() git.HistoryLimits {
	return git.HistoryLimits{
		Commits: cmp.Or(l.HistoryCommits, defaultHistoryCommits),
		Bytes:   cmp.Or(l.HistoryBytes, defaultHistoryBytes),
	}
}

// Reachability says whether a commit is in the history of a branch or a tag.
type Reachability uint8

// The results of [Fetcher.Reachable]. The zero value is ReachUnknown.
const (
	ReachUnknown = Reachability(git.ReachUnknown)
	Reachable    = Reachability(git.Reachable)
	Unreachable  = Reachability(git.Unreachable)
)

func (r Reachability) String() string {
	switch r {
	case Reachable:
		return "reachable"
	case Unreachable:
		return "unreachable"
	}
	return "unknown"
}

// MarshalText returns String. The error is nil.
func (r Reachability) MarshalText() (text []byte, err error) { return []byte(r.String()), nil }

// UnmarshalText accepts the texts that MarshalText returns.
func (r *Reachability) UnmarshalText(text []byte) error {
	for _, known := range []Reachability{ReachUnknown, Reachable, Unreachable} {
		if known.String() == string(text) {
			*r = known
			return nil
		}
	}
	return fmt.Errorf("%q does not say whether a commit is reachable", text)
}

// Reach is the answer of [Fetcher.Reachable] for one commit. The zero value is unknown.
type Reach struct {
	Result Reachability
	// Ref is a branch or tag that has the commit, if Result is Reachable.
	Ref string
	// Err says why Result is ReachUnknown: [ErrTooLarge], [ErrIncompleteHistory] or [ErrNoHistory]. For
	// Unreachable it is [ErrRevisionNotFound] if the server says that it does not have the commit, or else
	// nil.
	Err error
}

// The reasons for [ReachUnknown].
var (
	// ErrIncompleteHistory means that the repository lacks a part of its history, like a shallow clone.
	ErrIncompleteHistory = git.ErrIncompleteHistory
	// ErrNoHistory means that the server does not send histories alone, or that git does not accept the
	// history.
	ErrNoHistory = git.ErrNoHistory
)

// LockedCommit is a commit to search for.
type LockedCommit struct {
	Revision string
	// Ref is the ref that the commit was locked for, which is searched first; "" means HEAD.
	Ref string
	// OnlyRef limits the search to the history of Ref.
	OnlyRef bool
}

// Reachable determines by Revision whether commits are in the history of a branch or a tag of the git
// repository of req.Package. Without commits, it searches for req.Revision, with the ref of the address. It
// ignores req.Dir and req.Progress. The error is a *[FetchError]: nothing is known about any commit.
//
// A forge serves the commits of all forks, pull requests and deleted branches at the address of a
// repository, so its owners may never have accepted a commit that can be fetched. Only refs/heads/ and
// refs/tags/ count.
//
// Commits that a ref points to need only a list of refs. For others the history is searched, if possible
// without trees and files, within [Limits.HistoryCommits] and [Limits.HistoryBytes]. A commit is only
// [Unreachable] if the whole history was read, or the server says that it does not have the commit.
func (f *Fetcher) Reachable(ctx context.Context, req Request, commits ...LockedCommit) (map[string]Reach, error) {
	found, err := f.reachable(ctx, req, commits)
	if err != nil {
		return nil, fetchError(req.Package.Redacted(), ctxerr.With(ctx, err))
	}
	answers := make(map[string]Reach, len(found))
	for id, reach := range found {
		answers[id] = Reach{Reachability(reach.Result), reach.Ref, reach.Err}
	}
	return answers, nil
}

func (f *Fetcher) reachable(ctx context.Context, req Request, commits []LockedCommit) (map[string]git.Reach, error) {
	if err := checkLocation(ctx, req); err != nil {
		return nil, err
	}
	ctx = limited(ctx, req)
	if req.Package.Getter() != "git" {
		return nil, fmt.Errorf("%w: %q; only git repositories have a history", ErrUnsupportedScheme, req.Package.Getter())
	}
	addr, err := parseGitAddress(req)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		commits = []LockedCommit{{Revision: req.Revision, Ref: addr.ref}}
	}
	var wanted []git.Want
	for _, c := range commits {
		if !git.IsObjectID(c.Revision) {
			return nil, errRevisionForm
		}
		wanted = append(wanted, git.Want{ID: c.Revision, Ref: c.Ref, OnlyRef: c.OnlyRef})
	}
	req.Progress = nil
	if getter, own := f.replaced("git"); own {
		refs, err := f.callersRefs(ctx, req, getter)
		if err != nil {
			return nil, err
		}
		return git.FindReach(ctx, refs, wanted, f.Limits.history(), noHistory{})
	}
	var found map[string]git.Reach
	err = f.withGit(ctx, req, addr, func(ctx context.Context, g *gitClients) (err error) {
		found, err = g.reachable(ctx, wanted)
		return err
	})
	return found, err
}

func (g *gitClients) reachable(ctx context.Context, wanted []git.Want) (map[string]git.Reach, error) {
	limits := g.fetcher.Limits.history()
	if g.v2 != nil {
		found, err := g.v2.Reachable(ctx, wanted, limits)
		if done, err := g.v2Done(ctx, err); done {
			return found, err
		}
	}
	var found map[string]git.Reach
	err := g.withRepository(func(repo git.Repository) (err error) {
		found, err = repo.Reachable(ctx, wanted, limits)
		return err
	})
	return found, err
}
