package getmodules

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// limited returns the context for a request. It limits the hosts of a location that a server or a package
// has named. The host of any other location may be named again by its answers.
func limited(ctx context.Context, req Request) context.Context {
	if req.FromServer || req.FromPackage {
		return httpx.PointedTo(ctx, originOf(req))
	}
	at, err := req.Package.Location()
	if err != nil {
		return ctx
	}
	own := httpx.HostPort(at.URL())
	return httpx.WithNames(ctx, func(hostPort string) httpx.Naming {
		if hostPort == own {
			return httpx.NamedByProject
		}
		return httpx.NotNamed
	})
}

// originOf returns the URL of the server or package that has named a location, without a host if that is
// not known.
func originOf(req Request) *url.URL {
	from, err := url.Parse(req.Origin)
	if err != nil {
		return new(url.URL)
	}
	return from
}

// checkLocation refuses what a package's configuration or a server's answer must not point to.
func checkLocation(ctx context.Context, req Request) error {
	at, err := req.Package.Location()
	if err != nil {
		return err
	}
	u := at.URL()
	switch {
	case req.FromServer:
		return checkPointedTo(ctx, req.Package.Getter(), u, originOf(req))
	case req.FromPackage && isLocalTransport(req.Package.Getter(), u):
		return fmt.Errorf("%w: a remote module must not use files of this machine", ErrRefusedLocation)
	case req.FromPackage:
		if err := httpx.CheckReach(limited(ctx, req), u); err != nil {
			return fmt.Errorf("%w: %w", ErrRefusedLocation, err)
		}
	}
	return nil
}

// checkNext is checkLocation and the caller's Allow for what a requested package points to.
func checkNext(ctx context.Context, req Request) error {
	if err := checkLocation(ctx, req); err != nil || req.Allow == nil {
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

// checkPointedTo allows a server encrypted transports to other servers. Plain http is allowed only if a
// server on this machine points to this machine, as in tests.
func checkPointedTo(ctx context.Context, getter string, u, from *url.URL) error {
	allowed := map[string][]string{
		"git":   {"https", "ssh"},
		"https": {"https"},
		"oci":   {"oci"},
		"s3":    {"https"},
		"gcs":   {"https"},
	}
	if hostname.IsLoopback(from) && hostname.IsLoopback(u) {
		allowed["git"] = append(allowed["git"], "http")
		allowed["http"] = []string{"http"}
		allowed["s3"] = append(allowed["s3"], "http")
	}
	server := "an unknown URL"
	if from.Host != "" {
		server = hostname.Origin(from)
	}
	if u.Hostname() == "" || !slices.Contains(allowed[getter], u.Scheme) {
		return fmt.Errorf("%w: the server at %q points to %q; servers may point to https, git over https or ssh, oci, s3 and gcs",
			ErrRefusedLocation, server, transport(getter, u))
	}
	if err := httpx.CheckReach(httpx.PointedTo(ctx, from), u); err != nil {
		return fmt.Errorf("%w: %w", ErrRefusedLocation, err)
	}
	return nil
}

// transport is in the notation of addresses.
func transport(getter string, u *url.URL) string {
	if getter == u.Scheme {
		return u.Scheme + "://"
	}
	return getter + "::" + u.Scheme + "://"
}
