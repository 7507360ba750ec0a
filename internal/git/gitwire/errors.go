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
	// ErrNotSmart means that the server does not support git's smart HTTP protocol.
	ErrNotSmart = errors.New("the server does not answer as git servers do")
	// ErrOldProtocol means that the server does not support version 2.
	ErrOldProtocol = errors.New("the server does not speak version 2 of git's protocol")
	// ErrMalformed means that the server violated the protocol.
	ErrMalformed = errors.New("the git server's answer is malformed")
)

// PageError means that the answer is a page for humans. Servers send one, for example, if they
// require a login. It wraps [ErrNotSmart].
type PageError struct {
	// ContentType is the answer's media type, such as "text/html".
	ContentType string
}

func (e *PageError) Error() string {
	return fmt.Sprintf("the server answers with a web page (%s)", e.ContentType)
}

// Unwrap returns [ErrNotSmart].
func (e *PageError) Unwrap() error { return ErrNotSmart }

// StatusError means that the answer has an unexpected HTTP status.
type StatusError struct {
	StatusCode int
	// RetryAfter is the header with which the server asks for a pause; "" if there is none.
	RetryAfter string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the git server answers %d %s", e.StatusCode, http.StatusText(e.StatusCode))
}

// RemoteError is an error message that the server sent by the protocol.
type RemoteError struct {
	Message string
	// Is is the error of package git that the message stands for; nil if it is not known.
	Is error
}

func (e *RemoteError) Error() string {
	text := fmt.Sprintf("the git server says %q", e.Message)
	if e.Is == nil {
		return text
	}
	return e.Is.Error() + ": " + text
}

// Unwrap returns e.Is.
func (e *RemoteError) Unwrap() error { return e.Is }

func remoteError(said []byte) error {
	e := &RemoteError{Message: strings.TrimSpace(string(said[:min(len(said), maxRemoteText)]))}
	switch {
	case strings.Contains(e.Message, "object format"):
		e.Is = git.ErrNeedsGit
	case strings.Contains(e.Message, "not our ref"):
		e.Is = git.ErrRevisionNotFound
	default:
		meaning, _ := git.MeaningOf(e.Message)
		e.Is = meaning.Is
	}
	return e
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
