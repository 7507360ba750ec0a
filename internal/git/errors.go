package git

import "errors"

// The reasons why a repository could not be fetched from.
var (
	// ErrRepositoryNotFound may also mean that the credentials do not give access: servers do not say.
	ErrRepositoryNotFound = errors.New("repository not found")
	// ErrRefNotFound is about a tag, a branch or an abbreviated commit.
	ErrRefNotFound      = errors.New("ref not found")
	ErrRevisionNotFound = errors.New("commit not found")
	// ErrAuthentication means that the credentials were refused, or that there were none.
	ErrAuthentication  = errors.New("authentication failed")
	ErrHostUnreachable = errors.New("host unreachable")
	// ErrHostUntrusted is about the key of an ssh host, or a certificate.
	ErrHostUntrusted = errors.New("host not trusted")
	// ErrRefused means that an address, or a server's answer, points to where it must not.
	ErrRefused  = errors.New("refused location")
	ErrTooLarge = errors.New("the package is too large")
)

var ErrNeedsGit = errors.New("this needs an installed git (2.26 or newer)")

var ErrAmbiguous = errors.New("several commits begin with it; write more digits")
