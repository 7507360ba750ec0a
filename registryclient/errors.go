package registryclient

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// The kinds of failure that callers tell apart with errors.Is.
var (
	// ErrNotFound says that the registry has no such module or version, or
	// hides it from requests without credentials.
	ErrNotFound = errors.New("not found")
	// ErrUnauthorized says that the registry wants credentials, or others.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden says that the credentials do not allow it. Some servers
	// also answer so when they get too many requests.
	ErrForbidden = errors.New("forbidden")
	// ErrUnexpectedStatus says that the registry answered with another status
	// than the protocol has for success.
	ErrUnexpectedStatus = errors.New("unexpected status")
	// ErrInvalidAnswer says that the content of the answer is not what the
	// protocol says.
	ErrInvalidAnswer = errors.New("the registry's answer is not valid")
	// ErrRefusedLocation says that the registry points to a location that
	// registries must not point to; the package comment has the rule.
	ErrRefusedLocation = errors.New("refused the location that the registry gave")
)

// RequestError is a request to a registry that failed. It wraps one of the sentinels of this package, the error of [Services], that of the
// network, or that of the context.
type RequestError struct {
	Package addrs.ModuleRegistryPackage
	// Version is the zero value if the listing of versions failed.
	Version versions.Version
	// URL is what was asked for, without credentials. It is empty if nothing
	// was.
	URL string
	// StatusCode is the final status; zero if there was no answer.
	StatusCode int
	Err        error
}

func (e *RequestError) Error() string {
	what := "module " + e.Package.String()
	if !e.Version.IsZero() {
		what += " " + e.Version.String()
	}
	if e.URL == "" {
		return fmt.Sprintf("%s: %s", what, e.Err)
	}
	return fmt.Sprintf("%s: GET %s: %s", what, e.URL, e.Err)
}

// Unwrap gives the cause.
func (e *RequestError) Unwrap() error { return e.Err }
