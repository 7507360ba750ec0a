package inprocess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitpack"
	"github.com/cotterpin/cotter/internal/git/gitwire"
)

// The bounds of the refs that one request lists: those that begin with the names
// that a ref may stand for, and all of a namespace.
const (
	maxNamedRefs = 10_000
	maxRefs      = 200_000
)

// V2 is a [git.Repository] by version 2 of the protocol over http, without
// credentials. A known commit takes one request, a ref two. Objects can be read
// while the rest of the pack is still to come.
type V2 struct {
	Client gitwire.Client
	// Dir is a directory of the caller's for temporary files.
	Dir string
	// MaxBytes bounds what is transferred, and Limits what the pack holds.
	MaxBytes int64
	Limits   gitpack.Limits
	// Progress is called with the bytes that came so far, at most every 100 ms and
	// at the end; nil is fine.
	Progress func(done int64)

	received int64
}

var _ git.Repository = (*V2)(nil)

// Refs implements [git.Repository].
func (v *V2) Refs(ctx context.Context, names ...string) (git.Refs, error) {
	limit := maxNamedRefs
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "/") }) {
		limit = maxRefs
	}
	list, err := v.Client.Refs(ctx, limit, names...)
	if err != nil {
		return nil, err
	}
	refs := git.Refs{}
	for _, ref := range list {
		refs[ref.Name] = git.Ref{ID: ref.ID, Commit: cmp.Or(ref.Peeled, ref.ID)}
	}
	return refs, nil
}

// Fetch implements [git.Repository]. Abbreviated commits are not found.
func (v *V2) Fetch(ctx context.Context, want git.Want, read func(git.Fetched) error) (err error) {
	fetched := git.Fetched{ID: want.Known()}
	switch len(fetched.ID) {
	case git.SHA1Len:
	case git.SHA256Len:
		return failure(Unsupported, "the commit is named by SHA-256")
	default:
		refs, err := v.Refs(ctx, git.Candidates(want.Ref)...)
		if err != nil {
			return err
		}
		if fetched.Chosen = refs.Choose(want.Ref); fetched.Chosen.Name == "" {
			return &git.RefNotFoundError{Ref: want.Ref}
		}
		fetched.ID = fetched.Chosen.ID
	}
	pack, err := v.Client.Fetch(ctx, gitwire.Fetch{
		Want: fetched.ID, Bytes: v.MaxBytes, Limits: v.Limits, Dir: v.Dir, Progress: v.everyNowAndThen(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pack.Close()) }()
	fetched.Objects = &packObjects{pack: pack}
	if err := read(fetched); err != nil {
		return tooLarge(err)
	}
	if v.received, err = pack.Wait(); err != nil {
		return err
	}
	if v.Progress != nil {
		v.Progress(v.received)
	}
	return nil
}

// tooLarge finds the limit that is the user's: that of what is transferred.
func tooLarge(err error) error {
	if errors.Is(err, gitwire.ErrTooLarge) {
		return fmt.Errorf("%w: %w", git.ErrTooLarge, err)
	}
	return err
}

// everyNowAndThen returns Progress for calls at any rate.
func (v *V2) everyNowAndThen() func(int64) {
	if v.Progress == nil {
		return nil
	}
	last := time.Now()
	return func(done int64) {
		if now := time.Now(); now.Sub(last) >= progressEvery {
			last = now
			v.Progress(done)
		}
	}
}

// Expand implements [git.Repository].
func (v *V2) Expand(context.Context, string) (string, error) {
	return "", failure(Unsupported, "abbreviated commits are not looked for by this request")
}

// Received implements [git.Repository].
func (v *V2) Received() int64 { return v.received }

// Close implements [git.Repository].
func (v *V2) Close() error { return nil }
