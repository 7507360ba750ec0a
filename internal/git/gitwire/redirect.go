package gitwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const (
	// maxRedirects is enough for renames, and a canonical host.
	maxRedirects = 5
	advertPath   = "info/refs"
	advertQuery  = "service=" + service
)

// Locate returns the URL to which the server redirects the repository, or nil. What is answered there is no
// error; a redirect that is not allowed is a [git.ErrRefused].
func (t *HTTP) Locate(ctx context.Context) (*url.URL, error) {
	moved, body, err := t.follow(ctx)
	if err == nil {
		_ = body.Close()
	}
	if errors.As(err, new(*StatusError)) || errors.Is(err, ErrNotSmart) {
		return moved, nil
	}
	return moved, err
}

// discover remembers the URL of redirects, and checks that the server there has version 2.
func (t *HTTP) discover(ctx context.Context) error {
	moved, body, err := t.follow(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	t.base = moved
	return checkAdvert(newPackets(body, nil))
}

// follow requests the advertisement: by git's rules only that may be redirected. moved is the URL of the
// repository at the end, nil without redirects, also with an error of the server there.
func (t *HTTP) follow(ctx context.Context) (moved *url.URL, answer io.ReadCloser, err error) {
	u, err := t.endpoint(advertPath)
	if err != nil {
		return nil, nil, err
	}
	u.RawQuery = advertQuery
	for range maxRedirects + 1 {
		answer, err := t.get(ctx, u)
		to, redirects := errors.AsType[*movedError](err)
		if !redirects {
			return moved, answer, err
		}
		if httpx.HostPort(u) != httpx.HostPort(to.to) {
			t.pointer = u
			ctx = httpx.PointedTo(ctx, u)
		}
		u = to.to
		if moved, err = repositoryOf(u); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("%w: more than %d redirects", git.ErrRefused, maxRedirects)
}

// repositoryOf checks that a redirect points to an advertisement, as git does.
func repositoryOf(u *url.URL) (*url.URL, error) {
	address, ok := strings.CutSuffix(u.String(), "/"+advertPath+"?"+advertQuery)
	base, err := url.Parse(address)
	if !ok || err != nil || base.RawQuery != "" {
		return nil, fmt.Errorf("%w: the redirect to %q does not point to a repository", git.ErrRefused, u.Redacted())
	}
	return base, nil
}

// checkAdvert allows for servers that name the service first, as in older versions.
func checkAdvert(p *packets) error {
	kind, line, err := p.line()
	if err == nil && line == "# "+advertQuery {
		if kind, _, err = p.line(); err == nil && kind == flushPacket {
			kind, line, err = p.line()
		}
	}
	if err != nil {
		return early(err)
	}
	if kind != dataPacket || line != "version 2" {
		return ErrOldProtocol
	}
	return nil
}
