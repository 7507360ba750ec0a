package inprocess

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
)

// V2 takes one request for a known commit, and two for a ref. Objects can be read while the rest of the pack is
// still being received.
type V2 struct {
	Client gitwire.Client
	// Dir is for temporary files.
	Dir string
	// MaxBytes bounds the transfer, and Limits the content of the pack.
	MaxBytes int64
	Limits   PackLimits
	// Progress gets the bytes so far, at most every 100 ms and at the end. It may be nil.
	Progress func(done int64)

	received int64
}

var _ git.Repository = (*V2)(nil)

var errSHA256 = fmt.Errorf("%w: the commit is named by SHA-256", git.ErrNeedsGit)

func (v *V2) Refs(ctx context.Context, names ...string) (git.Refs, error) {
	return v.Client.Refs(ctx, names...)
}

// Fetch does not resolve abbreviated commits.
func (v *V2) Fetch(ctx context.Context, want git.Want, read func(git.Fetched) error) (err error) {
	fetched := git.Fetched{ID: want.Known()}
	switch len(fetched.ID) {
	case git.SHA1Len:
	case git.SHA256Len:
		return errSHA256
	default:
		refs, err := v.Refs(ctx, git.Candidates(want.Ref)...)
		if err != nil {
			return err
		}
		if fetched.Chosen = refs.Choose(want.Ref); fetched.Chosen.Name == "" {
			return fmt.Errorf("%w: %q", git.ErrRefNotFound, want.Ref)
		}
		fetched.ID = fetched.Chosen.ID
	}
	stream, err := v.Client.Fetch(ctx, gitwire.Fetch{Want: []string{fetched.ID}, Shallow: true, Bytes: v.MaxBytes, Progress: throttled(v.Progress)})
	if err != nil {
		return err
	}
	pack := StartPack(stream, v.Dir, v.Limits)
	defer func() { err = errors.Join(err, pack.Close()) }()
	fetched.Objects = &packObjects{pack: pack}
	if err := read(fetched); err != nil {
		return err
	}
	if v.received, err = pack.Wait(); err != nil {
		return err
	}
	if v.Progress != nil {
		v.Progress(v.received)
	}
	return nil
}

const progressInterval = 100 * time.Millisecond

// throttled returns nil if report is nil.
func throttled(report func(done int64)) func(done int64) {
	if report == nil {
		return nil
	}
	last := time.Now()
	return func(done int64) {
		if now := time.Now(); now.Sub(last) >= progressInterval {
			last = now
			report(done)
		}
	}
}

// Expand always returns an error.
func (v *V2) Expand(context.Context, string) (string, error) {
	return "", fmt.Errorf("%w: commits cannot be abbreviated without it", git.ErrNeedsGit)
}

func (v *V2) Received() int64 { return v.received }

func (v *V2) Close() error { return v.Client.Transport.Close() }
