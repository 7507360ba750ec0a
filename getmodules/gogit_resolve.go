package getmodules

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/inprocess"
)

// bring fetches what was asked for and returns it with the name of the commit,
// or of a tag that leads to it.
func (b *builtInFetch) bring(ctx context.Context) (*inprocess.Objects, string, error) {
	list, err := b.repo.List(ctx)
	if err != nil {
		return nil, "", err
	}
	if id := b.wanted(); id != "" {
		objects, err := b.commit(ctx, list, id)
		return objects, id, err
	}
	id, err := b.find(list)
	if errors.Is(err, ErrRefNotFound) && git.IsShortID(strings.ToLower(b.addr.ref)) {
		return b.short(ctx, list, err)
	}
	if err != nil {
		return nil, "", err
	}
	objects, err := b.repo.Fetch(ctx, inprocess.Want{IDs: []string{id}})
	return objects, id, err
}

// find is the object that the address's ref names.
func (b *builtInFetch) find(list *inprocess.Listing) (string, error) {
	refs := remoteRefs{}
	for _, name := range git.Candidates(b.addr.ref) {
		if found, ok := list.Lookup(name); ok {
			refs[name] = remoteRef{found.ID, found.Commit}
		}
	}
	if b.chosen = refs.choose(b.addr.ref); b.chosen.name != "" {
		return b.chosen.id, nil
	}
	missing := &RefNotFoundError{Ref: b.addr.ref}
	if b.addr.ref != "" {
		missing.Near = nearest(git.Short(b.addr.ref), branchesAndTags(list))
	}
	return "", missing
}

func branchesAndTags(list *inprocess.Listing) []string {
	var names []string
	for _, ref := range list.Refs {
		if strings.HasPrefix(ref.Name, "refs/heads/") || strings.HasPrefix(ref.Name, "refs/tags/") {
			names = append(names, ref.Name)
		}
	}
	return names
}

// commit fetches one commit. A server lists what its refs name, and few give
// anything else by version 0 of the protocol; for a commit in between, all of
// the history has to come.
func (b *builtInFetch) commit(ctx context.Context, list *inprocess.Listing, id string) (*inprocess.Objects, error) {
	want := inprocess.Want{IDs: []string{id}}
	if tip, ok := list.Leading(id); ok {
		want.IDs[0] = tip
	} else if !list.AnyCommit {
		return b.history(ctx, list, id)
	}
	objects, err := b.repo.Fetch(ctx, want)
	if failed, ok := errors.AsType[*inprocess.Error](err); ok && failed.Kind == inprocess.Refused {
		return nil, fmt.Errorf("%w: the repository does not give %s: %w", ErrRevisionNotFound, id, err)
	}
	return objects, err
}

// history fetches all branches and tags for the one commit.
func (b *builtInFetch) history(ctx context.Context, list *inprocess.Listing, id string) (*inprocess.Objects, error) {
	want := inprocess.Want{IDs: allTips(list), History: true}
	if len(want.IDs) == 0 {
		return nil, fmt.Errorf("%w: the repository is empty", ErrRevisionNotFound)
	}
	objects, err := b.repo.Fetch(ctx, want)
	if err != nil {
		return nil, fmt.Errorf("the server gives no single commits to the built-in git client, which asked for its whole history: %w", err)
	}
	if !objects.Has(id) {
		return nil, errors.Join(fmt.Errorf("%w: no tag or branch of the repository leads to %s", ErrRevisionNotFound, id), objects.Close())
	}
	return objects, nil
}

func allTips(list *inprocess.Listing) []string {
	var ids []string
	for _, ref := range list.Refs {
		if strings.HasPrefix(ref.Name, "refs/heads/") || strings.HasPrefix(ref.Name, "refs/tags/") {
			ids = append(ids, ref.ID)
		}
	}
	return ids
}

// short finds the commit of an abbreviated name among all, and fetches it.
// notFound is the error if there is none.
func (b *builtInFetch) short(ctx context.Context, list *inprocess.Listing, notFound error) (*inprocess.Objects, string, error) {
	id, err := b.expand(ctx, list, strings.ToLower(b.addr.ref))
	if err != nil {
		return nil, "", err
	}
	if id == "" {
		return nil, "", notFound
	}
	objects, err := b.commit(ctx, list, id)
	return objects, id, err
}

// expand returns the only commit whose name begins with short, or "".
func (b *builtInFetch) expand(ctx context.Context, list *inprocess.Listing, short string) (id string, err error) {
	want := inprocess.Want{IDs: allTips(list), History: true, OnlyCommits: true}
	if len(want.IDs) == 0 {
		return "", nil
	}
	objects, err := b.repo.Fetch(ctx, want)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	batch := objects.Start(ctx)
	reader := newGitObjects(batch, batch.Stdin, batch.Stdout)
	defer reader.close()
	return reader.expand(short)
}

// expandBuiltIn is expandRemote by the built-in client.
func (f *Fetcher) expandBuiltIn(ctx context.Context, g *gitFetch, short string) (id string, err error) {
	b, err := f.openBuiltIn(g)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.repo.Close()) }()
	list, err := b.repo.List(ctx)
	if err != nil {
		return "", err
	}
	return b.expand(ctx, list, short)
}
