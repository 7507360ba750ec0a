package signing

import "errors"

// Kinds of failure of a signature, for errors.Is.
var (
	ErrNoKeys     = errors.New("there is no key to check the signature with")
	ErrMalformed  = errors.New("the signature cannot be read")
	ErrTooLarge   = errors.New("the signature, its keys or the document are too large")
	ErrUnknownKey = errors.New("the signature was not made by any of the offered keys")
	// ErrInvalid means that a signature does not match the document, or has an unsupported form or hash.
	ErrInvalid = errors.New("the signature is not valid")
	ErrRevoked = errors.New("the key of the signature is revoked")
	ErrExpired = errors.New("the key or the signature has expired")
	// ErrWeak means that the signature can be forged with some effort.
	ErrWeak = errors.New("the signature is weak")
)

// Error wraps one of the sentinels.
type Error struct {
	// KeyID is in upper-case hexadecimal, or "" if it is not known.
	KeyID string
	// Reason has more details than Err, or is "".
	Reason string
	Err    error
}

func (e *Error) Error() string {
	text := e.Err.Error()
	if e.KeyID != "" {
		text += " (key " + e.KeyID + ")"
	}
	if e.Reason != "" {
		text += ": " + printable(e.Reason, maxReason)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }
