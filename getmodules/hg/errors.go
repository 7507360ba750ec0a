package hg

import (
	"fmt"
	"strings"
)

// Error is a run of hg that failed.
type Error struct {
	// Args are the arguments. There are no credentials among them.
	Args []string
	// Stderr is the end of what hg said, at most 8 KiB, without credentials
	// and with everything that is not printable escaped as by %q. Lines end
	// in "\n" but for the last.
	Stderr string
	// Err is the cause: the context's, that of os/exec, or [ErrNoHg].
	Err error
}

// maxMessage bounds the part of hg's own words in a message.
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
