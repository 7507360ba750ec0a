package gitexec

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a failed run of git.
type Error struct {
	// Args are the arguments, without credentials.
	Args []string
	// ExitCode is git's exit status, or -1 if git did not exit by itself.
	ExitCode int
	// Stderr is the end of git's standard error, at most 8 KiB. Credentials are removed, and
	// unprintable characters are escaped as by %q. Lines are separated by "\n".
	Stderr string
	// Err is the cause: the context's error, [ErrIdle], [ErrOutput], or the error of os/exec.
	Err error
}

// maxMessage bounds git's text in a message, in bytes. Stderr has the full text.
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

// Says reports whether git's standard error contains one of the phrases, ignoring case. Git has
// no error codes, so its untranslated messages are the only source.
func (e *Error) Says(phrases ...string) bool {
	said := strings.ToLower(e.Stderr)
	for _, phrase := range phrases {
		if strings.Contains(said, strings.ToLower(phrase)) {
			return true
		}
	}
	return false
}

// exitCode returns git's exit status if err is or wraps an [*Error], and otherwise -1.
func exitCode(err error) int {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed.ExitCode
	}
	return -1
}
