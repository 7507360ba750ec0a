package gitpack

import "errors"

// Why a pack could not be read, beside the errors of the stream it came from.
var (
	// ErrMalformed says that the bytes are no pack, or a damaged one.
	ErrMalformed = errors.New("the git pack is damaged")
	// ErrBase says that a delta's base is not among the objects before it.
	ErrBase = errors.New("the git pack holds a delta without its base")
	// ErrTooLarge says that the pack is over one of the limits.
	ErrTooLarge = errors.New("the git pack is too large")
	// ErrCollision says that an object was made to have another one's name.
	ErrCollision = errors.New("the git pack holds an object of a SHA-1 collision")
)
