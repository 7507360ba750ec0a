package getproviders

import (
	"errors"
	"fmt"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// maxMirrorArchive bounds the archive of a provider, in bytes.
const maxMirrorArchive = 1 << 30

var (
	// ErrMirrorRefused means that a mirror refused a request: it wants credentials,
	// or other ones.
	ErrMirrorRefused = errors.New("the mirror refused the request")
	// ErrInvalidMirror means that the content of a mirror does not conform to its
	// format.
	ErrInvalidMirror = errors.New("the mirror's content is not valid")
	// ErrTooLarge means that something has more bytes than its limit.
	ErrTooLarge = errors.New("too large")
)

// MirrorError is returned if a mirror failed, or does not have what was asked for. It
// wraps [ErrNotFound], [ErrUnsupportedPlatform], [ErrMirrorRefused], [ErrInvalidMirror],
// [ErrTooLarge], or the error of the network, the file system or the context.
type MirrorError struct {
	Provider addrs.Provider
	// Version is zero if all versions were asked for, Platform if all platforms were.
	Version  versions.Version
	Platform addrs.Platform
	// Location is the directory, the file, the URL or the repository, without
	// credentials.
	Location string
	Err      error
}

func (e *MirrorError) Error() string {
	return fmt.Sprintf("%s: mirror %q: %s", e.Subject(), e.Location, e.Err)
}

// Subject names what was asked for, which begins the text of the error:
// "provider example.com/acme/cloud 1.2.0 for linux_amd64".
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

// with returns the error with a reason.
func (e MirrorError) with(err error) *MirrorError {
	e.Err = err
	return &e
}

// asMirrorError returns the error if it is a *MirrorError, else about with it as its
// reason, such as the context's.
func asMirrorError(about MirrorError, err error) *MirrorError {
	if failure, ok := errors.AsType[*MirrorError](err); ok {
		return failure
	}
	return about.with(err)
}

// parseVersion parses the version of a provider. Mirrors may have other things in the
// places of versions, which stock tools skip.
func parseVersion(s string) (versions.Version, bool) {
	v, err := versions.ParseProviderVersion(s)
	return v, err == nil
}

// meter counts the bytes that are written, and tells them to progress.
type meter struct {
	progress    func(done, total int64) // may be nil
	done, total int64
	told        time.Time
}

func (m *meter) Write(p []byte) (int, error) {
	m.done += int64(len(p))
	if now := time.Now(); m.progress != nil && now.Sub(m.told) >= progressInterval {
		m.told = now
		m.progress(m.done, m.total)
	}
	return len(p), nil
}

// finish tells the last number.
func (m *meter) finish() {
	if m.progress != nil {
		m.progress(m.done, m.done)
	}
}
