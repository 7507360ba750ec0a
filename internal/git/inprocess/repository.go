package inprocess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// Source provides the objects of a repository. It is a [Remote] or a [Local].
type Source interface {
	List(ctx context.Context) (*Listing, error)
	Fetch(ctx context.Context, want Want) (*Objects, error)
	// Received returns the number of bytes that were transferred so far.
	Received() int64
	Close() error
}

// Repository is a [git.Repository] that uses go-git.
type Repository struct {
	Source Source

	listing *Listing // nil before it is needed
}

var _ git.Repository = (*Repository)(nil)

func (r *Repository) list(ctx context.Context) (*Listing, error) {
	if r.listing == nil {
		listing, err := r.Source.List(ctx)
		if err != nil {
			return nil, err
		}
		r.listing = listing
	}
	return r.listing, nil
}

// Refs implements [git.Repository].
func (r *Repository) Refs(ctx context.Context, names ...string) (git.Refs, error) {
	list, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	refs := git.Refs{}
	for full, ref := range list.Refs {
		if slices.ContainsFunc(names, func(name string) bool {
			return full == name || strings.HasSuffix(name, "/") && strings.HasPrefix(full, name)
		}) {
			refs[full] = ref
		}
	}
	return refs, nil
}

// Fetch implements [git.Repository].
func (r *Repository) Fetch(ctx context.Context, want git.Want, read func(git.Fetched) error) (err error) {
	list, err := r.list(ctx)
	if err != nil {
		return err
	}
	fetched, objects, err := r.fetch(ctx, list, want)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	objects.ctx, fetched.Objects = ctx, objects
	return read(fetched)
}

func (r *Repository) fetch(ctx context.Context, list *Listing, want git.Want) (git.Fetched, *Objects, error) {
	if id := want.Known(); id != "" {
		objects, err := r.commit(ctx, list, id)
		return git.Fetched{ID: id}, objects, err
	}
	if chosen := list.Refs.Choose(want.Ref); chosen.Name != "" {
		objects, err := r.Source.Fetch(ctx, Want{IDs: []string{chosen.ID}})
		return git.Fetched{ID: chosen.ID, Chosen: chosen}, objects, err
	}
	short := strings.ToLower(want.Ref)
	if !git.IsShortID(short) {
		return git.Fetched{}, nil, &git.RefNotFoundError{Ref: want.Ref}
	}
	id, err := r.Expand(ctx, short)
	if err != nil {
		return git.Fetched{}, nil, err
	}
	if id == "" {
		return git.Fetched{}, nil, &git.RefNotFoundError{Ref: want.Ref}
	}
	objects, err := r.commit(ctx, list, id)
	return git.Fetched{ID: id}, objects, err
}

// commit fetches one commit. In version 0 of the protocol, few servers send a commit to which
// no ref points. For such a commit, the whole history is fetched.
func (r *Repository) commit(ctx context.Context, list *Listing, id string) (*Objects, error) {
	if len(id) == git.SHA256Len {
		return nil, failure(Unsupported, "the commit is named by SHA-256")
	}
	want := Want{IDs: []string{id}}
	if tip, ok := list.leading(id); ok {
		want.IDs[0] = tip
	} else if !list.AnyCommit {
		return r.history(ctx, list, id)
	}
	objects, err := r.Source.Fetch(ctx, want)
	if failed, ok := errors.AsType[*Error](err); ok && failed.Kind == Refused {
		return nil, fmt.Errorf("%w: the repository does not send %s: %w", git.ErrRevisionNotFound, id, err)
	}
	return objects, err
}

// history fetches all branches and tags with their history, to find one commit.
func (r *Repository) history(ctx context.Context, list *Listing, id string) (*Objects, error) {
	want := Want{IDs: list.tips(), History: true}
	if len(want.IDs) == 0 {
		return nil, fmt.Errorf("%w: the repository is empty", git.ErrRevisionNotFound)
	}
	objects, err := r.Source.Fetch(ctx, want)
	if err != nil {
		return nil, fmt.Errorf("the server does not send single commits to the built-in git client, which requested the whole history instead: %w", err)
	}
	if !objects.Has(id) {
		return nil, errors.Join(fmt.Errorf("%w: no tag or branch of the repository points to %s", git.ErrRevisionNotFound, id), objects.Close())
	}
	return objects, nil
}

// Expand implements [git.Repository].
func (r *Repository) Expand(ctx context.Context, short string) (id string, err error) {
	list, err := r.list(ctx)
	if err != nil {
		return "", err
	}
	want := Want{IDs: list.tips(), History: true, OnlyCommits: true}
	if len(want.IDs) == 0 {
		return "", nil
	}
	objects, err := r.Source.Fetch(ctx, want)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	return objects.expand(short)
}

// Received implements [git.Repository].
func (r *Repository) Received() int64 { return r.Source.Received() }

// Close implements [git.Repository].
func (r *Repository) Close() error { return r.Source.Close() }
