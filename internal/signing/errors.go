package signing

import "errors"

// Kinds of failure of a signature, for errors.Is.
var (
	// ErrNoKeys means that no keys are offered.
	ErrNoKeys = errors.New("there is no key to check the signature with")
	// ErrMalformed means that the signature cannot be read.
	ErrMalformed = errors.New("the signature cannot be read")
	// ErrTooLarge means that a limit of this package is exceeded.
	ErrTooLarge = errors.New("the signature, its keys or the document are too large")
	// ErrUnknownKey means that none of the offered keys made the signature.
	ErrUnknownKey = errors.New("the signature was not made by any of the offered keys")
	// ErrInvalid means that a signature does not match the document, or has an unsupported form or
	// hash.
	ErrInvalid = errors.New("the signature is not valid")
	// ErrRevoked means that the owner of the key has revoked it.
	ErrRevoked = errors.New("the key of the signature is revoked")
	// ErrExpired means that the key or the signature has expired.
	ErrExpired = errors.New("the key or the signature has expired")
	// ErrWeak means that the signature can be forged with some effort.
	ErrWeak = errors.New("the signature is weak")
)

// Error is returned by [Check]. It wraps one of the sentinels.
type Error struct {
	// KeyID is the id of the key in upper-case hexadecimal, or "" if it is not known.
	KeyID string
	// Reason has more details than Err. It may be "".
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

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }
