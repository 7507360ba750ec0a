package getmodules

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/reach"
)

// checkLocation refuses locations to which strangers must not lead: a package
// in its own configuration, and a server in its answer. What the user wrote is
// not its business.
func checkLocation(req Request) error {
	u, err := req.Package.URL()
	if err != nil {
		return err
	}
	switch {
	case req.FromServer:
		return checkTransport(req.Package.Getter(), u, req.Origin)
	case req.FromPackage && isLocalTransport(req.Package.Getter(), u):
		return fmt.Errorf("%w: a module from elsewhere must not use files of this machine", ErrRefusedLocation)
	}
	return nil
}

// checkLed is checkLocation for where another location leads to.
func checkLed(req Request) error {
	if err := checkLocation(req); err != nil || req.Allow == nil {
		return err
	}
	if err := req.Allow(req.Package); err != nil {
		return fmt.Errorf("it leads to %s: %w", req.Package.Redacted(), err)
	}
	return nil
}

func isLocalTransport(getter string, u *url.URL) bool {
	return getter == "file" || u.Scheme == "file" || u.Scheme == ""
}

// checkTransport allows a server, at origin, to lead to where it could not do harm:
// encrypted transports to other servers. Plain http is for a server on this
// machine that leads to this machine, as in tests.
func checkTransport(getter string, u *url.URL, origin string) error {
	allowed := map[string][]string{
		"git":   {"https", "ssh"},
		"https": {"https"},
		"oci":   {"oci"},
		"s3":    {"https"},
		"gcs":   {"https"},
	}
	from, err := url.Parse(origin)
	if err == nil && isLoopbackHost(from) && isLoopbackHost(u) {
		allowed["git"] = append(allowed["git"], "http")
		allowed["http"] = []string{"http"}
		allowed["s3"] = append(allowed["s3"], "http")
	}
	if u.Host == "" || !slices.Contains(allowed[getter], u.Scheme) {
		return fmt.Errorf("%w: the server at %q leads to %q; servers may lead to https, git over https or ssh, oci, s3 and gcs",
			ErrRefusedLocation, originOf(origin), transport(getter, u))
	}
	if err != nil {
		from = new(url.URL) // it is nowhere near
	}
	if reason, ok := reach.May(from, u); !ok {
		return fmt.Errorf("%w: the server at %q leads to %q, and %s; use that address as the source yourself if you trust it",
			ErrRefusedLocation, originOf(origin), addrs.Redact(u.Scheme+"://"+u.Host), reason)
	}
	return nil
}

// transport names a transport as addresses do.
func transport(getter string, u *url.URL) string {
	if getter == u.Scheme {
		return u.Scheme + "://"
	}
	return getter + "::" + u.Scheme + "://"
}

// originOf is a URL's scheme and host, for messages.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return addrs.Redact(raw)
	}
	return origin(u)
}

// origin is what credentials are bound to: scheme, host and port, in one form.
func origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port)
}
