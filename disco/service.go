package disco

import (
	"errors"
	"fmt"
	"net/url"

	svcdisco "github.com/opentofu/svchost/disco"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hostname"
	"github.com/cotterpin/cotter/internal/httpx"
)

// serviceError replaces svcdisco's error types with the sentinel errors of this package.
func serviceError(err error, serviceID string) error {
	if _, ok := errors.AsType[*svcdisco.ErrVersionNotSupported](err); ok {
		return fmt.Errorf("%w: there is no usable %q in its list of services", ErrVersionNotSupported, serviceID)
	}
	if _, ok := errors.AsType[*svcdisco.ErrServiceNotProvided](err); ok {
		return fmt.Errorf("%w: there is no %q in its list of services", ErrServiceNotProvided, serviceID)
	}
	return fmt.Errorf("%w: the URL of %q: %s", ErrInvalidAnswer, serviceID, httpx.Printable(err.Error()))
}

// checkServiceURL refuses URLs that are not https, because tokens would be sent to them in
// plain text, as stock tools do. A service on this machine's loopback is allowed, but a
// remote host may not point to it.
func checkServiceURL(u *url.URL, host addrs.Hostname, forced bool) error {
	from := &url.URL{Host: string(host)}
	hostname.NormalizeURL(from) // as in the request for the document
	local := hostname.IsLoopback(u) && (forced || hostname.IsLoopback(from))
	if u.Scheme != "https" && !local {
		return fmt.Errorf("%w: the service's URL %q is not https", ErrInvalidAnswer, addrs.Redact(u.String()))
	}
	if u.Host == "" {
		return fmt.Errorf("%w: the service's URL %q has no host", ErrInvalidAnswer, addrs.Redact(u.String()))
	}
	if reason, ok := hostname.MayPointTo(from, u); !ok && !forced {
		return fmt.Errorf("%w: the service's URL %q: %s", ErrInvalidAnswer, addrs.Redact(u.String()), reason)
	}
	return nil
}
