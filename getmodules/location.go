package getmodules

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hostname"
	"github.com/cotterpin/cotter/internal/httpx"
)

// checkLocation returns an error if a package's own configuration, or a server's answer, points
// to a location that is not allowed there. Locations that the user wrote are not checked.
func checkLocation(req Request) error {
	at, err := req.Package.Location()
	if err != nil {
		return err
	}
	u := at.URL()
	switch {
	case req.FromServer:
		return checkPointedTo(req.Package.Getter(), u, req.Origin)
	case req.FromPackage && isLocalTransport(req.Package.Getter(), u):
		return fmt.Errorf("%w: a remote module must not use files of this machine", ErrRefusedLocation)
	}
	return nil
}

// checkNext calls checkLocation and the caller's Allow for a location that a requested package
// points to.
func checkNext(req Request) error {
	if err := checkLocation(req); err != nil || req.Allow == nil {
		return err
	}
	if err := req.Allow(req.Package); err != nil {
		return fmt.Errorf("it points to %s: %w", req.Package.Redacted(), err)
	}
	return nil
}

func isLocalTransport(getter string, u *url.URL) bool {
	return getter == "file" || u.Scheme == "file" || u.Scheme == ""
}

// checkPointedTo returns an error unless the server at origin may point to a location. Allowed
// are encrypted transports to other servers. Plain http is allowed only if a server on this
// machine points to this machine, as in tests.
func checkPointedTo(getter string, u *url.URL, origin string) error {
	allowed := map[string][]string{
		"git":   {"https", "ssh"},
		"https": {"https"},
		"oci":   {"oci"},
		"s3":    {"https"},
		"gcs":   {"https"},
	}
	from, err := url.Parse(origin)
	if err != nil {
		from = new(url.URL)
	}
	if hostname.IsLoopback(from) && hostname.IsLoopback(u) {
		allowed["git"] = append(allowed["git"], "http")
		allowed["http"] = []string{"http"}
		allowed["s3"] = append(allowed["s3"], "http")
	}
	server := addrs.Redact(origin)
	if from.Host != "" {
		server = httpx.Origin(from)
	}
	if u.Host == "" || !slices.Contains(allowed[getter], u.Scheme) {
		return fmt.Errorf("%w: the server at %q points to %q; servers may point to https, git over https or ssh, oci, s3 and gcs",
			ErrRefusedLocation, server, transport(getter, u))
	}
	if reason, ok := hostname.MayPointTo(from, u); !ok {
		return fmt.Errorf("%w: the server at %q points to %q, and %s; use that address as the source yourself if you trust it",
			ErrRefusedLocation, server, addrs.Redact(u.Scheme+"://"+u.Host), reason)
	}
	return nil
}

// transport returns the getter and the scheme in the notation of addresses.
func transport(getter string, u *url.URL) string {
	if getter == u.Scheme {
		return u.Scheme + "://"
	}
	return getter + "::" + u.Scheme + "://"
}
