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
	// maxRedirects is enough for a repository that was renamed, by way of the
	// host's canonical name.
	maxRedirects = 5
	advertPath   = "info/refs"
	advertQuery  = "service=" + service
)

// discover asks for the advertisement, follows redirects, and remembers where
// they lead. It checks that the server there speaks version 2.
func (c *Client) discover(ctx context.Context) error {
	u, err := c.endpoint(advertPath)
	if err != nil {
		return err
	}
	u.RawQuery = advertQuery
	for range maxRedirects + 1 {
		request, err := newRequest(ctx, http.MethodGet, u, nil)
		if err != nil {
			return err
		}
		body, err := c.do(request, advertType)
		var moved *movedError
		if errors.As(err, &moved) {
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
		c.base, err = repositoryOf(u)
		return err
	}
	return fmt.Errorf("%w: more than %d redirects", ErrRedirect, maxRedirects)
}

// redirected is where an answer redirects to. Nothing of the old address is
// taken along.
func redirected(from *url.URL, location string) (*url.URL, error) {
	to, err := httpx.Redirect(from, location)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRedirect, err)
	}
	return to, nil
}

// repositoryOf is the URL of the repository whose advertisement was found at u.
// By git's rules a redirect must lead to an address of the same form.
func repositoryOf(u *url.URL) (*url.URL, error) {
	address, ok := strings.CutSuffix(u.String(), "/"+advertPath+"?"+advertQuery)
	base, err := url.Parse(address)
	if !ok || err != nil || base.RawQuery != "" {
		return nil, fmt.Errorf("%w: to an address of another form", ErrRedirect)
	}
	return base, nil
}

// checkAdvert reads the beginning of an advertisement. Before the version some
// servers name the service, as for older versions.
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
