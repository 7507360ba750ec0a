package cliconfig

import "fmt"

// Token is a secret: a bearer token or a password. Whatever prints it prints
// "REDACTED"; [Token.Secret] gives it away. It has a pointer so that package
// fmt, which calls no methods in unexported fields, prints an address there.
type Token struct{ secret *string }

const redacted = "REDACTED"

// NewToken hides a secret.
func NewToken(secret string) Token { return Token{&secret} }

// Secret is what the token hides.
func (t Token) Secret() string {
	if t.secret == nil {
		return ""
	}
	return *t.secret
}

// Format prints "REDACTED" by any verb of package fmt.
func (Token) Format(f fmt.State, _ rune) {
	// A failure is the writer's, and fmt reports it.
	_, _ = f.Write([]byte(redacted))
}

// String returns "REDACTED".
func (Token) String() string { return redacted }

// GoString returns "REDACTED".
func (Token) GoString() string { return redacted }

// MarshalText returns "REDACTED", for JSON and structured logs.
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }
