package gitexec

import (
	"context"
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

// Phrases in git's untranslated messages. Git has no error codes for them.
var (
	saysNoRef       = []string{"couldn't find remote ref"}
	saysNoCommit    = []string{"not our ref"}
	saysOtherFormat = []string{"mismatched algorithms"}
	saysNoFilter    = []string{"remote error: filter "}
	saysNoPassword  = []string{"could not read password"}
	// saysBadTransfer means that objects arrived, or began to arrive, but were unusable.
	saysBadTransfer = []string{
		"fsck error", "early eof", "rpc failed", "hung up", "protocol error", "index-pack failed",
		"invalid index-pack", "did not send all necessary objects", "repository corruption",
	}
	// saysRedirect means that the answer was a redirect. Git is run so that it does not follow
	// redirects. httpx.Redirect decides whether the location is allowed, and git is then run
	// again with the new URL.
	saysRedirect = []string{
		"returned error: 301", "returned error: 302", "returned error: 303", "returned error: 307", "returned error: 308",
	}
	// saysTemporary means that the failure may not occur again: a server is busy or being
	// restarted, or a connection broke. Connections that cannot be established are not
	// included, because these are mostly wrong addresses.
	saysTemporary = []string{
		"returned error: 429", "returned error: 500", "returned error: 502", "returned error: 503", "returned error: 504",
		"http 429", "http 500", "http 502", "http 503", "http 504",
		"connection reset", "connection timed out", "early eof", "hung up unexpectedly",
	}
)

// says reports whether err is an error of git that contains one of the phrases.
func says(err error, phrases []string) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Says(phrases...)
}

// isAnswer reports whether err is final: another request, or another store, would not change
// it.
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

// explain adds to an error of git its meaning, and advice.
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
		if says(err, saysTemporary) && !says(err, saysNoFilter) && cacheTrouble(err) == "" {
			return &httpx.TemporaryError{Err: err}
		}
		return err
	})
	return err
}
