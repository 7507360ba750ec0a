package getmodules

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/internal/gitcmd"
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
	if errors.Is(err, ErrRefNotFound) && gitcmd.IsShortID(strings.ToLower(g.addr.ref)) {
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
	case isGitAnswer(err), gitSays(err, gitOtherFormat), gitSays(err, gitBadTransfer):
		return err
	}
	if ref := g.addr.ref; g.req.Revision != "" && ref != "" && !gitcmd.IsObjectID(ref) {
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

// fetchRef fetches what a tag or branch, or HEAD, points to now, in three
// requests. The name goes to git in short, because git then asks the server
// for both at once and takes the tag.
func (g *gitFetch) fetchRef(ctx context.Context) (id string, err error) {
	ref := g.addr.ref
	switch {
	case ref == "":
		return g.fetchExact(ctx, "HEAD")
	case strings.HasPrefix(ref, "refs/"):
		return g.fetchExact(ctx, ref)
	}
	id, found, err := g.fetchNamed(ctx, ref)
	if err != nil {
		return "", err
	}
	tag, branch := "refs/tags/"+ref, "refs/heads/"+ref
	switch {
	case found == tag:
		g.noteClash(ref)
		return id, nil
	case found == branch:
		return id, nil
	case found == "refs/"+ref && (strings.HasPrefix(ref, "tags/") || strings.HasPrefix(ref, "heads/")):
		return id, nil
	}
	// Git's rules let a ref outside of tags and branches come first.
	if id, err = g.fetchExact(ctx, tag); errors.Is(err, ErrRefNotFound) {
		id, err = g.fetchExact(ctx, branch)
	}
	return id, err
}

// fetchExact fetches the ref of that full name. Git itself would also take
// refs/heads/refs/tags/x for refs/tags/x.
func (g *gitFetch) fetchExact(ctx context.Context, ref string) (string, error) {
	id, found, err := g.fetchNamed(ctx, ref)
	if err == nil && found != ref {
		err = &RefNotFoundError{Ref: g.addr.ref}
	}
	return id, err
}

// fetchNamed fetches whichever ref git finds by that name, and returns its
// full name.
func (g *gitFetch) fetchNamed(ctx context.Context, name string) (id, found string, err error) {
	err = g.fetchRefs(ctx, []string{gitOneCommit}, fmt.Sprintf("+%s:%s%x", name, storeNames, sha256.Sum256([]byte(name))))
	if gitSays(err, gitNoRef) {
		return "", "", &RefNotFoundError{Ref: g.addr.ref}
	}
	if err != nil {
		return "", "", err
	}
	return g.store.fetchHead()
}
