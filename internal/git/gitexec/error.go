package gitexec

import (
	"fmt"
	"strings"
)

// Error is a run of git that failed.
type Error struct {
	// Args are the arguments, without credentials.
	Args []string
	// ExitCode is git's exit status; -1 where it did not end by itself.
	ExitCode int
	// Stderr is the end of what git said, at most 8 KiB, without credentials
	// and with everything that is not printable escaped as by %q. Lines end
	// in "\n" but for the last.
	Stderr string
	// Err is the cause: the context's error, [ErrIdle], [ErrOutput], or the
	// error of os/exec.
	Err error
}

// maxMessage bounds the part of git's own words in a message; all of them are
// in Stderr.
const maxMessage = 600

func (e *Error) Error() string {
	name := "git"
	if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	if e.Stderr == "" {
		return fmt.Sprintf("%s: %v", name, e.Err)
	}
	said := strings.ReplaceAll(e.Stderr, "\n", "; ")
	if len(said) > maxMessage {
		said = "[...]" + strings.ToValidUTF8(said[len(said)-maxMessage:], "")
	}
	return fmt.Sprintf("%s: %v: %s", name, e.Err, said)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Says reports whether git's words hold one of the phrases, without regard to
// case. Git has no error codes, so its untranslated messages are all there is.
func (e *Error) Says(phrases ...string) bool {
	said := strings.ToLower(e.Stderr)
	for _, phrase := range phrases {
		if strings.Contains(said, strings.ToLower(phrase)) {
			return true
		}
	}
	return false
}
