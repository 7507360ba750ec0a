package getproviders

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/versions"
)

// maxMirrorArchive is the maximum size of a provider's archive in bytes.
const maxMirrorArchive = 1 << 30

var (
	// ErrMirrorRefused means that a mirror refused a request because it requires credentials, or
	// different ones.
	ErrMirrorRefused = errors.New("the mirror refused the request")
	// ErrInvalidMirror means that the content of a mirror does not conform to its format.
	ErrInvalidMirror = errors.New("the mirror's content is not valid")
	// ErrTooLarge means that something exceeds its size limit.
	ErrTooLarge = errors.New("too large")
)

// MirrorError is returned if a mirror failed or does not have the requested provider, version or
// package. It wraps [ErrNotFound], [ErrUnsupportedPlatform], [ErrMirrorRefused],
// [ErrInvalidMirror], [ErrTooLarge], or an error of the network, the file system or the context.
type MirrorError struct {
	Provider addrs.Provider
	// Version is zero if all versions were requested. Platform is zero if all platforms were
	// requested.
	Version  versions.Version
	Platform addrs.Platform
	// Location is the directory, file, URL or repository, without credentials.
	Location string
	Err      error
}

func (e *MirrorError) Error() string {
	return fmt.Sprintf("%s: mirror %q: %v", e.Subject(), e.Location, e.Err)
}

// Subject returns the beginning of the error text, which names what was requested: "provider
// example.com/acme/cloud 1.2.0 for linux_amd64".
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

// namedMirror returns the evidence of a mirror that the user named, by its address.
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

// parseVersion parses the version of a provider. It returns false if s is not a version. Like
// stock tools, callers skip such entries of a mirror.
func parseVersion(s string) (versions.Version, bool) {
	v, err := versions.ParseProviderVersion(s)
	return v, err == nil
}
