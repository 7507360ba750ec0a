package gitwire

import (
	"errors"
	"fmt"
	"net/http"
)

// Why a server's answer is none that this package understands.
var (
	// ErrNotSmart says that the server does not speak git's smart HTTP.
	ErrNotSmart = errors.New("the server does not answer as git servers do")
	// ErrOldProtocol says that the server does not speak version 2.
	ErrOldProtocol = errors.New("the server does not speak version 2 of git's protocol")
	// ErrAuthRequired says that the server wants credentials, or says that
	// there is no repository, which may mean the same.
	ErrAuthRequired = errors.New("the server wants credentials, or has no such repository")
	// ErrMalformed says that the server broke the rules of the protocol.
	ErrMalformed = errors.New("the git server's answer is malformed")
	// ErrTooLarge says that an answer is over a limit.
	ErrTooLarge = errors.New("the git server's answer is too large")
	// ErrRedirect says that the server redirects to where it must not.
	ErrRedirect = errors.New("the git server redirects to where it must not")
)

// PageError is an answer that is a document for people, as servers give that want
// a login. It is [ErrNotSmart].
type PageError struct {
	// ContentType is the answer's media type, such as "text/html".
	ContentType string
}

func (e *PageError) Error() string {
	return fmt.Sprintf("the server answers with a web page (%s)", e.ContentType)
}

// Unwrap returns [ErrNotSmart].
func (e *PageError) Unwrap() error { return ErrNotSmart }

// StatusError is an HTTP status that is not wanted. It is [ErrAuthRequired]
// for 401, 403 and 404.
type StatusError struct {
	StatusCode int
	// RetryAfter is the header by which the server asks for a pause; "" if it
	// does not.
	RetryAfter string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the git server answers %d %s", e.StatusCode, http.StatusText(e.StatusCode))
}

// Unwrap gives the sentinel that the status stands for.
func (e *StatusError) Unwrap() error {
	switch e.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return ErrAuthRequired
	}
	return nil
}

// RemoteError is an error that the server reports by means of the protocol.
type RemoteError struct {
	// Message is in the server's own words.
	Message string
}

func (e *RemoteError) Error() string { return fmt.Sprintf("the git server says %q", e.Message) }

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
