package getmodules

import (
	"context"
	"net/url"
)

// HTTPCredentials finds the user's name and password for an http server, or
// nil where there are none. The URL has a scheme, a host and a path, and nothing
// else. It must be safe for concurrent use.
type HTTPCredentials func(ctx context.Context, at *url.URL) (*url.Userinfo, error)

// userFor is who asks for an address: whom it names, or else whom the user's
// own files name. Those know servers, not what a server is asked for; so where
// another server led here they are not asked, and encryption is a must.
func (f *Fetcher) userFor(ctx context.Context, req Request, addr *archiveAddress) (*url.Userinfo, error) {
	u := addr.url
	switch {
	case addr.user != nil, f.HTTPCredentials == nil:
		return addr.user, nil
	case u.Scheme != "https" && !isLoopbackHost(u):
		return nil, nil
	case req.FromServer && !sameOrigin(req.Origin, u):
		return nil, nil
	}
	return f.HTTPCredentials(ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path})
}

func sameOrigin(raw string, u *url.URL) bool {
	from, err := url.Parse(raw)
	return err == nil && origin(from) == origin(u)
}
