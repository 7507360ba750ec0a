package getmodules

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git"
)

// Where the store keeps what it fetched. Refs keep objects from being pruned,
// and tell a server what we have already.
const (
	storeCommits = "refs/cotter/commit/"
	storeNames   = "refs/cotter/name/"
	storeAll     = "refs/cotter/all/"
)

// resolve fetches what was asked for.
func (g *gitFetch) resolve(ctx context.Context) (id string, err error) {
	if id := g.wanted(); id != "" {
		return id, g.fetchCommit(ctx, id)
	}
	id, err = g.fetchRef(ctx)
	if errors.Is(err, ErrRefNotFound) && git.IsShortID(strings.ToLower(g.addr.ref)) {
		return g.fetchShort(ctx, err)
	}
	if notFound, ok := errors.AsType[*RefNotFoundError](err); ok {
		notFound.Near = g.nearRefs(ctx)
	}
	return id, err
}

// fetchCommit fetches one commit by its name, in two requests. Servers that
// hand out only what their refs name get asked for the ref, then for all.
func (g *gitFetch) fetchCommit(ctx context.Context, id string) error {
	err := g.fetchRefs(ctx, []string{gitOneCommit}, "+"+id+":"+storeCommits+id)
	switch {
	case err == nil:
		return nil
	case gitSays(err, gitNoCommit):
		return fmt.Errorf("%w: the repository does not have %s: %w", ErrRevisionNotFound, id, err)
	case isGitAnswer(err), gitSays(err, gitOtherFormat), gitSays(err, gitBadTransfer), cacheTrouble(err) != "":
		return err
	}
	if ref := g.addr.ref; g.req.Revision != "" && ref != "" && !git.IsObjectID(ref) {
		// The ref may be gone by now, so its error says nothing.
		if _, err := g.fetchRef(ctx); err == nil && g.has(ctx, id) {
			return nil
		}
	}
	if all := g.fetchAll(ctx, gitAllHistory); all != nil {
		return fmt.Errorf("%w; asked for all refs instead: %w", err, all)
	}
	if !g.has(ctx, id) {
		return fmt.Errorf("%w: no tag or branch of the repository leads to %s: %w", ErrRevisionNotFound, id, err)
	}
	return nil
}

// fetchAll fetches all tags and branches. Those of an earlier time go, because
// a branch "a" that is no more would be in the way of "a/b".
func (g *gitFetch) fetchAll(ctx context.Context, extent string) error {
	return g.fetchRefs(ctx, []string{extent, "--prune"}, "+refs/heads/*:"+storeAll+"heads/*", "+refs/tags/*:"+storeAll+"tags/*")
}

// fetchRef fetches what the address's ref, or HEAD, points to now, in three
// requests. The name goes to git as it is: git takes the ref by the rule of
// package git.
func (g *gitFetch) fetchRef(ctx context.Context) (string, error) {
	name := cmp.Or(g.addr.ref, git.Head)
	err := g.fetchRefs(ctx, []string{gitOneCommit}, fmt.Sprintf("+%s:%s%x", name, storeNames, sha256.Sum256([]byte(name))))
	if gitSays(err, gitNoRef) {
		return "", &RefNotFoundError{Ref: g.addr.ref}
	}
	if err != nil {
		return "", err
	}
	id, found, err := g.store.fetchHead()
	if err != nil {
		return "", err
	}
	if !slices.Contains(git.Candidates(g.addr.ref), found) {
		return "", fmt.Errorf("%w: git took %q for the ref %q", errStoreBroken, found, g.addr.ref)
	}
	g.noteRival(found)
	return id, nil
}
