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
	// hides it from whoever has no credentials.
	ErrNotFound = errors.New("not found")
	// ErrUnauthorized says that the registry wants credentials, or others.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden says that the credentials do not allow it. Some servers
	// also say so when they are asked too often.
	ErrForbidden = errors.New("forbidden")
	// ErrUnexpectedStatus says that the registry answered with another status
	// than the protocol has for success.
	ErrUnexpectedStatus = errors.New("unexpected status")
	// ErrInvalidAnswer says that the content of the answer is not what the
	// protocol says.
	ErrInvalidAnswer = errors.New("the registry's answer is not valid")
	// ErrRefusedLocation says that the registry leads to where registries must
	// not lead; the package comment has the rule.
	ErrRefusedLocation = errors.New("refused the location that the registry gave")
)

// RequestError says what a registry was asked, and what came of it. It wraps
// one of the sentinels of this package, the error of [Services], that of the
// network, or that of the context.
type RequestError struct {
	Package addrs.ModuleRegistryPackage
	// Version is the zero value where the listing of versions failed.
	Version versions.Version
	// URL is what was asked for, without credentials. It is empty where
	// nothing was.
	URL string
	// StatusCode is the final status; zero where there was no answer.
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
