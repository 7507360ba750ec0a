package cliconfig

import "fmt"

// secret is a token or a password. Package fmt and encoders print it as "REDACTED". It is a
// pointer because fmt calls no methods of values in unexported fields, and prints an
// address for a pointer.
type secret struct{ text *string }

const redacted = "REDACTED"

func newSecret(text string) secret { return secret{&text} }

// reveal returns the text; "" for the zero secret.
func (s secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Format prints "REDACTED" for every verb of package fmt.
func (secret) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(redacted)) // fmt reports errors of the writer
}

// MarshalText returns "REDACTED", for JSON and structured logs.
func (secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
