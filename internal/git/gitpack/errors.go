package gitpack

import "errors"

// The reasons why a pack could not be read, in addition to errors of the stream.
var (
	// ErrMalformed means that the data is not a pack, or is a damaged pack.
	ErrMalformed = errors.New("the git pack is damaged")
	// ErrBase means that the base of a delta is not among the objects before it.
	ErrBase = errors.New("the git pack holds a delta without its base")
	// ErrTooLarge means that the pack exceeds one of the limits.
	ErrTooLarge = errors.New("the git pack is too large")
	// ErrCollision means that an object was constructed to have the same name as another one.
	ErrCollision = errors.New("the git pack holds an object of a SHA-1 collision")
)
