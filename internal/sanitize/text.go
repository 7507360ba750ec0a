package sanitize

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cotterpin/cotter/addrs"
)

// Printable reports whether a character may be written to a terminal as it is.
// Control characters may not, nor may invisible ones, those that change the
// direction of text, and U+FFFD, which stands for bytes that are not text.
func Printable(r rune) bool { return unicode.IsGraphic(r) && r != utf8.RuneError }

// Escape returns text on one line, with Go's escapes in place of the characters
// that are not [Printable]. Backslashes stay as they are.
func Escape(text string) string { return escape(text, "") }

// EscapeLines is [Escape] for text of several lines: line breaks and tabs stay.
func EscapeLines(text string) string { return escape(text, "\n\t") }

// Excerpt is [Escape] of the first limit bytes of text, with "..." for the rest.
func Excerpt(text string, limit int) string {
	if len(text) <= limit {
		return Escape(text)
	}
	return Escape(text[:limit]) + "..."
}

func escape(text, kept string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case Printable(r), strings.ContainsRune(kept, r):
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i]) // not UTF-8
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

const redacted = "REDACTED"

// minSecret is the least length of secrets that are removed by value. Shorter
// ones are ordinary words: removing them would make messages unreadable, and
// would reveal the secret.
const minSecret = 6

// Redact removes secrets from s, in every encoding that programs print, and the
// user information and the arguments of URLs.
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

// RedactAll is [Redact] of each of args.
func RedactAll(args, secrets []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = Redact(arg, secrets)
	}
	return out
}

// Contains reports whether text contains a phrase in any case. Callers use it for
// the untranslated messages of programs that have no error codes.
func Contains(text, phrase string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(phrase))
}
