package inprocess

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind classifies failures as far as callers need it.
type Kind int

// The kinds of failures.
const (
	// Broken means that the repository, or the data that the server sent, is not valid git
	// data. Failures that are not of another kind also have this kind.
	Broken Kind = iota
	// Unsupported means that git supports something that this package does not.
	Unsupported
	// Refused means that the server answered with an error.
	Refused
	// TooLarge means that a limit was exceeded.
	TooLarge
	// Authentication means that the server accepted none of the keys.
	Authentication
	// Untrusted means that a host's key is unknown, or differs from the known one.
	Untrusted
	// Unreachable means that no connection could be made, or that it was lost.
	Unreachable
)

// Error is a failure of this package. Errors of the caller's context and transport are returned
// unchanged.
type Error struct {
	Kind    Kind
	Message string
	// Err is the cause; nil if the message is sufficient.
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

func failure(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// maxShown bounds the length of a server's message in an error, in bytes.
const maxShown = 300

// printable returns text from outside in a form for messages: quoted, on one line, shortened,
// and without control sequences for terminals.
func printable(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxShown {
		s = s[:maxShown] + "[...]"
	}
	return strconv.QuoteToGraphic(s)
}
