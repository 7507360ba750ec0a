package addrs

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// ErrOutsidePackage is what a [ParseError] wraps when a subdirectory, or a
// local path, leads out of the module package that it belongs to.
var ErrOutsidePackage = errors.New("leads outside of its module package")

// ParseError is the error of every function of this package that parses.
type ParseError struct {
	// What the input was meant to be, such as "hostname". Empty means a
	// module source address.
	What string
	// Input is the text as it was given. It may hold credentials, which the
	// message leaves out.
	Input string
	// Reason says in a few words what is wrong.
	Reason string
	// MaybeLocal is set where nothing recognised the address, so that it may
	// be a local path that lacks the "./" in front.
	MaybeLocal bool
	// Err is the cause, or nil. Its text is not part of the message.
	Err error
}

// Error quotes the input, redacted, and gives the reason.
func (e *ParseError) Error() string {
	what := e.What
	if what == "" {
		what = "module source address"
	}
	return fmt.Sprintf("invalid %s %s: %s", what, quoted(Redact(e.Input)), e.Reason)
}

// maxShown is how many characters of an input a message repeats. Addresses that
// people write are shorter.
const maxShown = 512

func quoted(text string) string {
	if utf8.RuneCountInString(text) > maxShown {
		return fmt.Sprintf("%.*q...", maxShown, text)
	}
	return strconv.Quote(text)
}

// Unwrap gives the cause.
func (e *ParseError) Unwrap() error { return e.Err }
