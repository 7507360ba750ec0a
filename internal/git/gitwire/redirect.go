package gitwire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/httpx"
)

const (
	// maxRedirects is enough for a renamed repository, plus a redirect to the host's canonical
	// name.
	maxRedirects = 5
	advertPath   = "info/refs"
	advertQuery  = "service=" + service
)

// discover requests the advertisement, follows redirects, and remembers the URL that they point
// to. It checks that the server there supports version 2.
func (t *HTTP) discover(ctx context.Context) error {
	u, err := t.endpoint(advertPath)
	if err != nil {
		return err
	}
	u.RawQuery = advertQuery
	for range maxRedirects + 1 {
		request, err := newRequest(ctx, http.MethodGet, u, nil)
		if err != nil {
			return err
		}
		body, err := t.do(request, advertType)
		var moved *movedError
		if errors.As(err, &moved) {
			if httpx.HostPort(u) != httpx.HostPort(moved.to) {
				t.pointer = u
				ctx = httpx.PointedTo(ctx, u)
			}
			u = moved.to
			continue
		}
		if err != nil {
			return err
		}
		err = checkAdvert(newPackets(body))
		body.Close()
		if err != nil {
			return err
		}
		t.base, err = repositoryOf(u)
		return err
	}
	return fmt.Errorf("%w: more than %d redirects", ErrRedirect, maxRedirects)
}

// redirected returns the URL that an answer redirects to. It contains nothing of the old URL.
func redirected(ctx context.Context, from *url.URL, location string) (*url.URL, error) {
	to, err := httpx.Redirect(ctx, from, location)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRedirect, err)
	}
	return to, nil
}

// repositoryOf returns the URL of the repository whose advertisement is at u. By git's rules, a
// redirect must point to a URL of the same form.
func repositoryOf(u *url.URL) (*url.URL, error) {
	address, ok := strings.CutSuffix(u.String(), "/"+advertPath+"?"+advertQuery)
	base, err := url.Parse(address)
	if !ok || err != nil || base.RawQuery != "" {
		return nil, fmt.Errorf("%w: to an address of another form", ErrRedirect)
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
