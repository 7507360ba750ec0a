package inprocess

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
)

// Kind says what went wrong, where it matters to the caller.
type Kind int

// The kinds of failures.
const (
	// Broken says that what the server sent, or the repository, is no valid git
	// data. It is the kind of everything that is not one of the others.
	Broken Kind = iota
	// Unsupported says that git can do it, and this package cannot.
	Unsupported
	// Refused says that the server's answer was an error.
	Refused
	// TooLarge says that a limit was exceeded.
	TooLarge
	// NotFound says that there is no repository.
	NotFound
	// Authentication says that the server took none of the keys.
	Authentication
	// Untrusted says that a host's key is not known, or is another one.
	Untrusted
	// Unreachable says that there was no connection, or not for long enough.
	Unreachable
)

// Error is a failure of this package. Other errors are those of the caller's
// context and transport.
type Error struct {
	Kind    Kind
	Message string
	// Err is the cause; nil where the message says all.
	Err error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return fmt.Sprintf("%s: %s", e.Message, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Says reports whether it is a server's answer with one of the phrases in it,
// without regard to case.
func (e *Error) Says(phrases ...string) bool {
	said := strings.ToLower(e.Message)
	return e.Kind == Refused && slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(said, p) })
}

func failure(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// maxShown bounds what is shown of a server's own words.
const maxShown = 300

// printable makes a stranger's text fit for a message: one line, without
// anything that a terminal obeys.
func printable(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxShown {
		s = s[:maxShown] + "[...]"
	}
	return strconv.QuoteToGraphic(s)
}

// explain turns an error in a server's place into one of ours.
func explain(err error) error {
	if line, ok := errors.AsType[*pktline.ErrorLine](err); ok {
		return failure(Refused, "the server says %s", printable(line.Text))
	}
	return err
}
