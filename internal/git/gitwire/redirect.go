package gitwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

const (
	// maxRedirects is enough for a renamed repository, plus a redirect to the host's canonical
	// name.
	maxRedirects = 5
	advertPath   = "info/refs"
	advertQuery  = "service=" + service
)

// Locate returns the URL to which the server redirects the repository, and nil if it does not. What
// the server there answers is no error. The error wraps [git.ErrRefused] if a redirect is not allowed.
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

// discover follows redirects, and remembers the URL that they point to. It checks that the server
// there supports version 2.
func (t *HTTP) discover(ctx context.Context) error {
	moved, body, err := t.follow(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	t.base = moved
	return checkAdvert(newPackets(body))
}

// follow requests the advertisement, which is the only request that may be redirected by git's rules.
// moved is the URL of the repository at the end of the redirects; nil if there were none. It is also
// returned if the server there answers with an error.
func (t *HTTP) follow(ctx context.Context) (moved *url.URL, answer io.ReadCloser, err error) {
	u, err := t.endpoint(advertPath)
	if err != nil {
		return nil, nil, err
	}
	u.RawQuery = advertQuery
	for range maxRedirects + 1 {
		request, err := newRequest(ctx, http.MethodGet, u, nil)
		if err != nil {
			return nil, nil, err
		}
		answer, err := t.do(request, advertType)
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

// repositoryOf returns the URL of the repository whose advertisement is at u. By git's rules, a
// redirect must point to a URL of the same form.
func repositoryOf(u *url.URL) (*url.URL, error) {
	address, ok := strings.CutSuffix(u.String(), "/"+advertPath+"?"+advertQuery)
	base, err := url.Parse(address)
	if !ok || err != nil || base.RawQuery != "" {
		return nil, fmt.Errorf("%w: the redirect to %q does not point to a repository", git.ErrRefused, u.Redacted())
	}
	return base, nil
}

// checkAdvert reads the beginning of an advertisement. Some servers name the service before the
// version, as in older protocol versions.
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
