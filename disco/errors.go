package disco

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/addrs"
)

// Kinds of failure, for errors.Is.
var (
	// ErrNoServices says that the host has no discovery document.
	ErrNoServices         = errors.New("the host offers no services")
	ErrServiceNotProvided = errors.New("the host does not offer the service")
	// ErrVersionNotSupported also says that the value of the service is not a URL.
	ErrVersionNotSupported = errors.New("the host does not offer this version of the service")
	// ErrUntrusted says that the host's certificate was not accepted.
	ErrUntrusted = errors.New("the host cannot be trusted")
	// ErrUnreachable says that the host did not answer, or only with failures that may be temporary.
	ErrUnreachable   = errors.New("the host is not available")
	ErrInvalidAnswer = errors.New("the host's answer cannot be used")
)

// DiscoveryError is returned if a service of a host cannot be used. It wraps a sentinel error of this
// package, the error of the context, or the reason why no request was sent.
type DiscoveryError struct {
	Host addrs.Hostname
	// URL is the URL of the document; "" if the services of the host are configured.
	URL string
	Err error
}

func (e *DiscoveryError) Error() string {
	tried := "in its configured services"
	if e.URL != "" {
		tried = "by " + e.URL
	}
	return fmt.Sprintf("looking up the services of %q %s: %v", string(e.Host), tried, e.Err)
}

func (e *DiscoveryError) Unwrap() error { return e.Err }

func isSentinel(err error) bool {
	return slices.ContainsFunc([]error{ErrNoServices, ErrServiceNotProvided, ErrVersionNotSupported, ErrUntrusted, ErrUnreachable, ErrInvalidAnswer},
		func(sentinel error) bool { return errors.Is(err, sentinel) })
}

func (c *Client) fail(host addrs.Hostname, err error) *DiscoveryError {
	if _, forced := c.ForcedServices[host]; forced {
		return &DiscoveryError{Host: host, Err: err}
	}
	u := url.URL{Scheme: "https", Host: string(host), Path: "/.well-known/terraform.json"}
	return &DiscoveryError{Host: host, URL: u.String(), Err: err}
}

// CredentialsError is returned if the credentials for a host could not be read.
type CredentialsError struct {
	Host addrs.Hostname
	Err  error
}

func (e *CredentialsError) Error() string {
	return fmt.Sprintf("the credentials for %q cannot be read: %v", string(e.Host), e.Err)
}

func (e *CredentialsError) Unwrap() error { return e.Err }
