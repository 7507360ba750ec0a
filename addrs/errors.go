package addrs

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// ErrOutsidePackage is wrapped by a [ParseError] if a subdirectory or local path leaves its package.
var ErrOutsidePackage = errors.New("points outside of its module package")

// ParseError is the error of all parsing functions of this package.
type ParseError struct {
	// What is the kind of the input, such as "hostname"; "" means a module source address.
	What string
	// Input is the parsed text, redacted by the parsing functions, so that printing all fields is safe.
	Input  string
	Reason string
	// MaybeLocal is set if the address was not recognized, so that it may be a local path without "./".
	MaybeLocal bool
	// Err is the cause, or nil. Its text is not part of the message.
	Err error
}

func (e *ParseError) Error() string {
	what := e.What
	if what == "" {
		what = "module source address"
	}
	return fmt.Sprintf("invalid %s %s: %s", what, quoted(Redact(e.Input)), e.Reason)
}

const maxShown = 512

func quoted(text string) string {
	if utf8.RuneCountInString(text) > maxShown {
		return fmt.Sprintf("%.*q...", maxShown, text)
	}
	return strconv.Quote(text)
}

func (e *ParseError) Unwrap() error { return e.Err }
