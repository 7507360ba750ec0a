// Package secret keeps tokens and passwords out of messages, logs and encoded values: [Text] is a
// secret that is never printed, and [Remove] removes known secrets from text of other programs and
// servers. Secrets in URLs are removed by addrs.Redact.
package secret

import (
	"fmt"
	"net/url"
	"strings"
)

// Redacted replaces secrets.
const Redacted = "REDACTED"

// Text is a token or a password. Package fmt and encoders print it as [Redacted]. It is a pointer
// because fmt calls no methods of values in unexported fields, and prints an address for a
// pointer.
type Text struct{ text *string }

// New returns a text as a secret.
func New(text string) Text { return Text{&text} }

// Reveal returns the text; "" for the zero Text.
func (t Text) Reveal() string {
	if t.text == nil {
		return ""
	}
	return *t.text
}

// Format prints [Redacted] for every verb of package fmt.
func (Text) Format(f fmt.State, _ rune) { Format(f) }

// MarshalText returns [Redacted], for JSON and structured logs.
func (Text) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// Format prints [Redacted]. Types with secrets call it in their methods of this name.
func Format(f fmt.State) {
	_, _ = f.Write([]byte(Redacted)) // fmt reports errors of the writer
}

// minRemoved is the minimum length of secrets that are removed from text. Shorter ones are
// ordinary words: removing them would make messages unreadable and would reveal the secret.
const minRemoved = 6

// Remove replaces secrets in a text, also in the encodings of URLs.
func Remove(text string, secrets ...string) string {
	for _, s := range secrets {
		if len(s) < minRemoved {
			continue
		}
		for _, spelling := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
			text = strings.ReplaceAll(text, spelling, Redacted)
		}
	}
	return text
}
