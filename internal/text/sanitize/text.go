package sanitize

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cotterpin/cotter/addrs"
)

// Printable reports whether a character may be written to a terminal unchanged. It returns false
// for control characters, invisible characters, characters that change the direction of text, and
// U+FFFD, which stands for bytes that are not text.
func Printable(r rune) bool { return unicode.IsGraphic(r) && r != utf8.RuneError }

// Escape returns text on one line, in which characters that are not [Printable] are replaced by
// Go's escapes. Backslashes are not changed.
func Escape(text string) string { return escape(text, "") }

// EscapeLines is like [Escape], but keeps line breaks and tabs.
func EscapeLines(text string) string { return escape(text, "\n\t") }

// Excerpt returns the first limit bytes of text, escaped, with "..." if text is longer.
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

// Redact removes secrets from s in every encoding that programs print. It also removes the user
// information and the arguments of URLs.
func Redact(s string, secrets []string) string {
	return addrs.RedactText(RemoveSecrets(s, secrets...))
}

func RedactAll(args, secrets []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = Redact(arg, secrets)
	}
	return out
}

// Contains ignores case. Callers use it for the untranslated messages of programs without error codes.
func Contains(text, phrase string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(phrase))
}
