package getproviders

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/versions"
)

var (
	// ErrMirrorRefused means that a mirror requires credentials, or other ones.
	ErrMirrorRefused = errors.New("the mirror refused the request")
	// ErrInvalidMirror means that the content of a mirror does not have its format.
	ErrInvalidMirror = errors.New("the mirror's content is not valid")
	// ErrTooLarge means that something exceeds its size limit.
	ErrTooLarge = errors.New("too large")
)

// MirrorError is returned if a mirror failed or lacks what was requested. It wraps [ErrNotFound],
// [ErrUnsupportedPlatform], [ErrMirrorRefused], [ErrInvalidMirror], [ErrTooLarge], or an error of the
// network, the file system or the context.
type MirrorError struct {
	Provider addrs.Provider
	// Version and Platform are zero if all were requested.
	Version  versions.Version
	Platform addrs.Platform
	// Location is the directory, file, URL or repository, without credentials.
	Location string
	Err      error
}

func (e *MirrorError) Error() string {
	return fmt.Sprintf("%s: mirror %q: %v", e.Subject(), e.Location, e.Err)
}

// Subject returns the beginning of the error text: "provider example.com/acme/cloud 1.2.0 for linux_amd64".
func (e *MirrorError) Subject() string {
	what := "provider " + e.Provider.String()
	if !e.Version.IsZero() {
		what += " " + e.Version.String()
	}
	if e.Platform != (addrs.Platform{}) {
		what += " for " + e.Platform.String()
	}
	return what
}

func (e *MirrorError) Unwrap() error { return e.Err }

// namedMirror is the evidence of a mirror that the user named.
func namedMirror(address string) evidence.Evidence {
	return evidence.Evidence{Kind: evidence.Mirror, By: "the mirror " + address}
}

func (e MirrorError) with(err error) *MirrorError {
	e.Err = err
	return &e
}

func asMirrorError(about MirrorError, err error) *MirrorError {
	if failure, ok := errors.AsType[*MirrorError](err); ok {
		return failure
	}
	return about.with(err)
}

// parseVersion returns false for other names in a mirror, which callers skip, as stock tools do.
func parseVersion(s string) (versions.Version, bool) {
	v, err := versions.ParseProviderVersion(s)
	return v, err == nil
}
