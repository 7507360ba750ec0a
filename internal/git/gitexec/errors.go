package gitexec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// Error is a failed run of git, or of ssh as git runs it.
type Error struct {
	// Program is "ssh", or "" for git.
	Program string
	// Args have no credentials.
	Args []string
	// ExitCode is -1 if git did not exit by itself.
	ExitCode int
	// Stderr is the end of the standard error, at most 8 KiB, escaped, without credentials.
	Stderr string
	// Err is the context's error, [ErrIdle], [ErrOutput], or the error of os/exec.
	Err error
}

// maxMessage bounds git's text in a message, in bytes.
const maxMessage = 600

func (e *Error) Error() string {
	name := cmp.Or(e.Program, "git")
	if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	if e.Stderr == "" {
		return fmt.Sprintf("%s: %v", name, e.Err)
	}
	said := strings.Join(e.lines(), "; ")
	if len(said) > maxMessage {
		said = "[...]" + strings.ToValidUTF8(said[len(said)-maxMessage:], "")
	}
	return fmt.Sprintf("%s: %v: %s", name, e.Err, said)
}

// lines leaves out the advice that git prints after every failure of ssh, which has given the reason.
func (e *Error) lines() []string {
	all := strings.Split(e.Stderr, "\n")
	reasons := slices.DeleteFunc(slices.Clone(all), func(line string) bool {
		return strings.TrimSpace(line) == "" || slices.Contains(sshAdvice, strings.TrimSpace(line))
	})
	if len(reasons) == 0 {
		return all
	}
	return reasons
}

var sshAdvice = []string{
	"fatal: Could not read from remote repository.",
	"Please make sure you have the correct access rights",
	"and the repository exists.",
}

func (e *Error) Unwrap() error { return e.Err }

// Says reports whether the standard error has one of the phrases, ignoring case.
func (e *Error) Says(phrases ...string) bool {
	said := strings.ToLower(e.Stderr)
	for _, phrase := range phrases {
		if strings.Contains(said, strings.ToLower(phrase)) {
			return true
		}
	}
	return false
}

var httpStatus = regexp.MustCompile(`(?im)^(?:fatal|error): .*(?:returned error: |\bhttp )([1-5][0-9]{2})\b`)

// HTTPStatus returns 0 if git did not report a status.
func (e *Error) HTTPStatus() int {
	found := httpStatus.FindStringSubmatch(e.Stderr)
	if found == nil {
		return 0
	}
	status, _ := strconv.Atoi(found[1]) // it has three digits
	return status
}

var (
	saysNoRef       = []string{"couldn't find remote ref"}
	saysNoCommit    = []string{"not our ref"}
	saysOtherFormat = []string{"mismatched algorithms"}
	saysNoFilter    = []string{"remote error: filter "}
	saysDumb        = []string{"dumb http transport does not support"}
	saysNoPassword  = []string{"could not read password"}
	// saysBadTransfer means that objects began to arrive, but were unusable.
	saysBadTransfer = []string{
		"fsck error", "early eof", "rpc failed", "hung up", "protocol error", "index-pack failed",
		"invalid index-pack", "did not send all necessary objects", "repository corruption",
	}
	// saysBroken does not include connections that cannot be made: these are mostly wrong addresses.
	saysBroken = []string{"connection reset", "connection timed out", "early eof", "hung up unexpectedly"}
)

// saysDropped means that an ssh server has refused a connection unseen, such as one of too many.
var saysDropped = []string{"kex_exchange_identification", "connection closed by"}

func says(err error, phrases []string) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Says(phrases...)
}

func isRedirect(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.HTTPStatus()/100 == 3
}

// isTemporary reports whether a server is busy or being restarted, or a connection broke.
func isTemporary(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	switch failed.HTTPStatus() {
	case 429, 500, 502, 503, 504:
		return true
	}
	return failed.Says(saysBroken...)
}

// isAnswer reports whether another request, or another store, would not change err.
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
	return git.MeaningOf(failed.Stderr) != nil
}

// explain says what git's message means for the repository at a URL.
func explain(at *url.URL, err error) error {
	failed, ok := errors.AsType[*Error](err)
	if !ok || isCancelled(err) {
		return err
	}
	meaning := git.MeaningOf(failed.Stderr)
	if meaning == nil {
		return err
	}
	meaning.URL, meaning.Err = addrs.Redact(at.String()), err
	return meaning
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func (r *Repository) retry(ctx context.Context, run func() error) error {
	return r.Retry.Do(ctx, "", func() error {
		err := run()
		if isTemporary(err) && !says(err, saysNoFilter) {
			return &httpx.TemporaryError{Err: err}
		}
		return err
	})
}
