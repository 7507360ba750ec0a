package disco

import (
	"errors"
	"fmt"
	"net/url"

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
	ErrUnreachable   = errors.New("the host cannot be reached")
	ErrInvalidAnswer = errors.New("the host's answer cannot be used")
)

var hints = [...]struct {
	sentinel error
	hint     string
}{
	{ErrNoServices, "check the host name in the source address"},
	{ErrServiceNotProvided, "check the host name in the source address"},
	{ErrVersionNotSupported, "it may need a newer version of this program"},
	{ErrUntrusted, "check the host name, the certificates of this system, and proxies that intercept connections"},
	{ErrUnreachable, "check the spelling of the host, the network and the proxy settings, or try again later"},
	{ErrInvalidAnswer, "check the host name, its credentials, and proxies between this machine and the host; otherwise ask the host's operator"},
}

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
	text := fmt.Sprintf("looking up the services of %q %s: %v", string(e.Host), tried, e.Err)
	for _, h := range hints {
		if errors.Is(e.Err, h.sentinel) {
			return text + "; " + h.hint
		}
	}
	return text
}

func (e *DiscoveryError) Unwrap() error { return e.Err }

func isSentinel(err error) bool {
	for _, h := range hints {
		if errors.Is(err, h.sentinel) {
			return true
		}
	}
	return false
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
