package httpx

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
)

// MaxLocation bounds a URL that a server names, in bytes. It is the usual limit of servers; longer URLs can
// be expensive to resolve.
const MaxLocation = 8 << 10

// harmless headers describe the wanted answer. Any other may be a credential, and is not sent to another
// origin.
var harmless = [...]string{"Accept", "Accept-Encoding", "If-Range", "Range", "User-Agent"}

func SameOrigin(a, b *url.URL) bool { return hostname.Origin(a) == hostname.Origin(b) }

// Redirect returns the URL that an answer at from redirects to, without credentials and fragment, under the
// [Rule] of the context. It sends no request. The error is a [*RedirectError].
func Redirect(ctx context.Context, from *url.URL, location string) (*url.URL, error) {
	req := (&http.Request{Method: http.MethodGet}).WithContext(ctx)
	return (&Client{MaxRedirects: 1}).next(req, []*url.URL{from}, location)
}

// next follows only GET and HEAD, to http and https, never from https to http, to no host that only has a
// meaning on this machine, and to nothing that the [Rule] of the context denies.
func (c *Client) next(req *http.Request, asked []*url.URL, location string) (*url.URL, error) {
	from := asked[len(asked)-1]
	refused := &RedirectError{From: lastRedirect(asked)}
	to, err := from.Parse(location)
	if err != nil || location == "" || len(location) > MaxLocation {
		refused.Reason = "the header Location is not a valid URL"
		return nil, refused
	}
	refused.To = addrs.Redact(to.String())
	refused.Reason = c.whyRefused(req.Method, from, to)
	if err := ruleOf(PointedTo(req.Context(), from)).checkReach(to, netip.Addr{}); refused.Reason == "" && err != nil {
		refused.Reason, refused.Err = "its host is "+err.Scope.String(), &DeniedError{URL: refused.To, Err: err}
	}
	if refused.Reason == "" && len(asked) > c.MaxRedirects {
		refused.Reason = fmt.Sprintf("that is more than %d redirects in a row", c.MaxRedirects)
	}
	if refused.Reason == "" {
		if refused.Err = checkRule(PointedToHost(req.Context(), from, to), to); refused.Err != nil {
			refused.Reason = refused.Err.Error()
		}
	}
	if refused.Reason != "" {
		return nil, refused
	}
	to.User, to.Fragment, to.RawFragment = nil, "", ""
	return to, nil
}

func (c *Client) whyRefused(method string, from, to *url.URL) string {
	switch {
	case method != "" && method != http.MethodGet && method != http.MethodHead:
		return "only GET requests may be redirected"
	case to.Hostname() == "" || to.Scheme != "https" && to.Scheme != "http":
		return "only http and https URLs with a host are followed"
	case from.Scheme == "https" && to.Scheme != "https":
		return "redirects from https to http are not followed"
	}
	if c.Refuse != nil {
		return c.Refuse(from, to)
	}
	return ""
}

// refusedAfter returns the error for a request that was not sent because of the address of its host.
func refusedAfter(asked []*url.URL, denied *DeniedError) error {
	if len(asked) == 1 {
		return denied
	}
	return &RedirectError{From: lastRedirect(asked[:len(asked)-1]), To: lastRedirect(asked), Reason: denied.Error(), Err: denied}
}

// InsecureRedirect is a [Client].Refuse that refuses http, except on this machine, and URLs with
// credentials.
func InsecureRedirect(from, to *url.URL) (reason string) {
	switch {
	case to.User != nil:
		return "the URL has its own credentials"
	case to.Scheme == "http" && !(hostname.IsLoopback(from) && hostname.IsLoopback(to)):
		return "only https is followed"
	}
	return ""
}

// redirected derives a request from the previous one, so headers that were dropped once stay dropped.
func redirected(req *http.Request, to *url.URL) *http.Request {
	next := (&http.Request{Method: req.Method, URL: to, Host: to.Host, Header: req.Header.Clone()}).WithContext(req.Context())
	next.Header.Del("Referer")
	if SameOrigin(req.URL, to) {
		return next
	}
	for name := range next.Header {
		if !slices.Contains(harmless[:], name) {
			delete(next.Header, name)
		}
	}
	return next
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// lastRedirect is redacted; "" if there is only one URL.
func lastRedirect(asked []*url.URL) string {
	if len(asked) < 2 {
		return ""
	}
	return addrs.Redact(asked[len(asked)-1].String())
}
