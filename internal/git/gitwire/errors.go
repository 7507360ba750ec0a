package gitwire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// The reasons why an answer of a server cannot be used, in addition to [git.ErrTooLarge] and
// [git.ErrRefused].
var (
	ErrNotSmart    = errors.New("the server does not answer as git servers do")
	ErrOldProtocol = errors.New("the server does not speak version 2 of git's protocol")
	ErrMalformed   = errors.New("the git server's answer is malformed")
)

type StatusError struct {
	StatusCode int
	// RetryAfter is the header; "" if there is none.
	RetryAfter string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the git server answers %d %s", e.StatusCode, http.StatusText(e.StatusCode))
}

// RemoteError is the server's own message.
type RemoteError struct {
	Message string
	// Is is what the message means; nil if it is not known.
	Is error
}

func (e *RemoteError) Error() string {
	text := fmt.Sprintf("the git server says %q", e.Message)
	if e.Is == nil {
		return text
	}
	return e.Is.Error() + ": " + text
}

func (e *RemoteError) Unwrap() error { return e.Is }

func remoteError(said []byte) error {
	e := &RemoteError{Message: strings.TrimSpace(string(said[:min(len(said), maxRemoteText)]))}
	switch {
	case strings.Contains(e.Message, "object format"):
		e.Is = git.ErrNeedsGit
	case strings.Contains(e.Message, "not our ref"):
		e.Is = git.ErrRevisionNotFound
	default:
		if meaning := git.MeaningOf(e.Message); meaning != nil {
			e.Is = meaning.Is
		}
	}
	return e
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
