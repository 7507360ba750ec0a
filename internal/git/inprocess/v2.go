package inprocess

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
)

// V2 is a [git.Repository] that uses version 2 of the protocol.
// Fetching a known commit takes one request, and fetching a ref two. Objects can be read while
// the rest of the pack is still being received.
type V2 struct {
	Client gitwire.Client
	// Dir is the caller's directory for temporary files.
	Dir string
	// MaxBytes bounds the size of the transfer, and Limits the content of the pack.
	MaxBytes int64
	Limits   PackLimits
	// Progress is called with the number of bytes that were received so far, at most every
	// 100 ms and at the end. It may be nil.
	Progress func(done int64)

	received int64
}

var _ git.Repository = (*V2)(nil)

// Refs implements [git.Repository].
func (v *V2) Refs(ctx context.Context, names ...string) (git.Refs, error) {
	list, err := v.Client.Refs(ctx, git.MaxRefs, names...)
	if err != nil {
		return nil, tooLarge(err)
	}
	refs := git.Refs{}
	for _, ref := range list {
		refs[ref.Name] = git.Ref{ID: ref.ID, Commit: cmp.Or(ref.Peeled, ref.ID)}
	}
	return refs, nil
}

// Fetch implements [git.Repository]. It does not resolve abbreviated commits.
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
	stream, err := v.Client.Fetch(ctx, gitwire.Fetch{Want: fetched.ID, Bytes: v.MaxBytes, Progress: throttled(v.Progress)})
	if err != nil {
		return err
	}
	pack := StartPack(stream, v.Dir, v.Limits)
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

// tooLarge wraps the errors for MaxBytes, which is the user's limit, and for a list of refs in
// git.ErrTooLarge. No other client is tried after it.
func tooLarge(err error) error {
	if errors.Is(err, gitwire.ErrTooLarge) {
		return fmt.Errorf("%w: %w", git.ErrTooLarge, err)
	}
	return err
}

// Expand implements [git.Repository]. It always returns an error.
func (v *V2) Expand(context.Context, string) (string, error) {
	return "", failure(Unsupported, "abbreviated commits are not supported by this client")
}

// Received implements [git.Repository].
func (v *V2) Received() int64 { return v.received }

// Close implements [git.Repository].
func (v *V2) Close() error { return v.Client.Transport.Close() }
