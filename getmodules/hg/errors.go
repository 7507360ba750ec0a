package hg

import (
	"fmt"
	"strings"
)

// Error is a failed run of hg.
type Error struct {
	// Args are the arguments. They contain no credentials.
	Args []string
	// Stderr is the end of hg's standard error, at most 8 KiB. Credentials are removed, and
	// unprintable characters are escaped as by %q. Lines are separated by "\n".
	Stderr string
	// Err is the cause: the error of the context or of os/exec, or [ErrNoHg].
	Err error
}

// maxMessage bounds hg's text in a message, in bytes.
const maxMessage = 600

func (e *Error) Error() string {
	name := "hg"
	if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	if e.Stderr == "" {
		return fmt.Sprintf("%s: %v", name, e.Err)
	}
	text := strings.ReplaceAll(e.Stderr, "\n", "; ")
	if len(text) > maxMessage {
		text = "[...]" + strings.ToValidUTF8(text[len(text)-maxMessage:], "")
	}
	return fmt.Sprintf("%s: %v: %s", name, e.Err, text)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
