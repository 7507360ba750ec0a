package sanitize

import (
	"fmt"
	"net/url"
	"strings"
)

const Redacted = "REDACTED"

// Secret is a token or a password. It is a pointer because fmt calls no methods of values in
// unexported fields, and prints an address for a pointer.
type Secret struct{ text *string }

// NewSecret returns a text as a secret.
func NewSecret(text string) Secret { return Secret{&text} }

func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Format prints [Redacted] for every verb of package fmt.
func (Secret) Format(f fmt.State, _ rune) { FormatRedacted(f) }

func (Secret) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// FormatRedacted prints [Redacted]. Types with secrets call it in their methods Format.
func FormatRedacted(f fmt.State) {
	_, _ = f.Write([]byte(Redacted)) // fmt reports errors of the writer
}

// minRemoved is the minimum length of secrets that are removed from text. Shorter ones are
// ordinary words: removing them would make messages unreadable and would reveal the secret.
const minRemoved = 6

// RemoveSecrets replaces secrets in a text, also in the encodings of URLs. addrs.Redact removes those that
// are parts of URLs.
func RemoveSecrets(text string, secrets ...string) string {
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
