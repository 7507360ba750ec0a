package gitwire

import (
	"errors"
	"fmt"
	"net/http"
)

// The reasons why an answer of a server cannot be used.
var (
	// ErrNotSmart means that the server does not support git's smart HTTP protocol.
	ErrNotSmart = errors.New("the server does not answer as git servers do")
	// ErrOldProtocol means that the server does not support version 2.
	ErrOldProtocol = errors.New("the server does not speak version 2 of git's protocol")
	// ErrAuthRequired means that the server demands credentials, or says that the repository
	// does not exist, which may have the same reason.
	ErrAuthRequired = errors.New("the server wants credentials, or has no such repository")
	// ErrMalformed means that the server violated the protocol.
	ErrMalformed = errors.New("the git server's answer is malformed")
	// ErrTooLarge means that an answer exceeds a limit.
	ErrTooLarge = errors.New("the git server's answer is too large")
	// ErrRedirect means that the server redirects to a location that is not allowed.
	ErrRedirect = errors.New("the git server redirects to a location that is not allowed")
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

// StatusError means that the answer has an unexpected HTTP status. It wraps [ErrAuthRequired]
// for 401, 403 and 404.
type StatusError struct {
	StatusCode int
	// RetryAfter is the header with which the server asks for a pause; "" if there is none.
	RetryAfter string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the git server answers %d %s", e.StatusCode, http.StatusText(e.StatusCode))
}

// Unwrap returns the sentinel for the status, or nil.
func (e *StatusError) Unwrap() error {
	switch e.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return ErrAuthRequired
	}
	return nil
}

// RemoteError is an error message that the server sent by the protocol.
type RemoteError struct {
	// Message is the server's message.
	Message string
}

func (e *RemoteError) Error() string { return fmt.Sprintf("the git server says %q", e.Message) }

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
