package sanitize

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// Escape makes foreign text safe for a terminal: control, direction and
// invisible characters become escapes.
func Escape(s string) string {
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

const redacted = "REDACTED"

// minSecret is the length from which a secret is looked for by value. Shorter
// ones are words like any other: to take them out would make the messages
// unreadable, and would show what they are.
const minSecret = 6

// Redact takes secrets, by value in every spelling that programs print, and the
// userinfo and the arguments of URLs out of s.
func Redact(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		for _, spelling := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			s = strings.ReplaceAll(s, spelling, redacted)
		}
	}
	return addrs.RedactText(s)
}

// RedactAll is Redact of each of args.
func RedactAll(args, secrets []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = Redact(arg, secrets)
	}
	return out
}

// Contains reports whether text has a phrase in it, without regard to case. The
// untranslated messages of programs that have no error codes are all there is.
func Contains(text, phrase string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(phrase))
}
