package gitexec

import (
	"context"
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

// What git says, in its untranslated messages; it has no codes for them.
var (
	saysNoRef       = []string{"couldn't find remote ref"}
	saysNoCommit    = []string{"not our ref"}
	saysOtherFormat = []string{"mismatched algorithms"}
	saysNoPassword  = []string{"could not read password"}
	// saysBadTransfer is that objects came, or began to, and were no good.
	saysBadTransfer = []string{
		"fsck error", "early eof", "rpc failed", "hung up", "protocol error", "index-pack failed",
		"invalid index-pack", "did not send all necessary objects", "repository corruption",
	}
	// saysRedirect is that an answer was a redirect, which git does not follow here:
	// where servers may redirect to is decided by httpx.Redirect, and git asks
	// that server then.
	saysRedirect = []string{
		"returned error: 301", "returned error: 302", "returned error: 303", "returned error: 307", "returned error: 308",
	}
	// saysTemporary is what may not occur again: a server that is busy or being
	// restarted, a connection that broke. Connections that cannot be made are not
	// among them: they are mostly wrong addresses.
	saysTemporary = []string{
		"returned error: 429", "returned error: 500", "returned error: 502", "returned error: 503", "returned error: 504",
		"http 429", "http 500", "http 502", "http 503", "http 504",
		"connection reset", "connection timed out", "early eof", "hung up unexpectedly",
	}
)

// says reports whether err is git's, with one of the phrases in it.
func says(err error, phrases []string) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Says(phrases...)
}

// isAnswer reports whether another way to ask, or another store, would not change
// err.
func isAnswer(err error) bool {
	for _, final := range []error{
		context.Canceled, context.DeadlineExceeded, ErrIdle, ErrNoGit,
		git.ErrTooLarge, git.ErrRefNotFound, git.ErrRevisionNotFound, git.ErrRefused,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	_, known := git.MeaningOf(failed.Stderr)
	return known
}

// explain adds to git's error what it means and what to do.
func explain(err error) error {
	failed, ok := errors.AsType[*Error](err)
	if !ok || isCancelled(err) {
		return err
	}
	if meaning, ok := git.MeaningOf(failed.Stderr); ok {
		return fmt.Errorf("%w: %s: %w", meaning.Is, meaning.Advice, err)
	}
	return err
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// retry runs git, and runs it again after a failure that may be temporary.
func (r *Repository) retry(ctx context.Context, run func() error) error {
	err := r.Retry.Do(ctx, "", func() error {
		err := run()
		if says(err, saysTemporary) && cacheTrouble(err) == "" {
			return &httpx.TemporaryError{Err: err}
		}
		return err
	})
	return err
}
