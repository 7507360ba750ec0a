package httpapi

import (
	"fmt"
	"net/http"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/reach"
)

// harmless are the headers that say what is wanted. Any other one may be a
// credential, since credentials choose their headers themselves.
var harmless = [...]string{"Accept", "Accept-Encoding", "User-Agent"}

// checkRedirect is for http.Client: req is about to be sent, via were sent.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	if reason := c.whyRefuse(req, via); reason != "" {
		return &RedirectError{To: addrs.Redact(req.URL.String()), Reason: reason}
	}
	// The path and the query of a request are nobody else's business.
	req.Header.Del("Referer")
	if leftOrigin(req, via) {
		keepHarmless(req)
	}
	return nil
}

func (c *Client) whyRefuse(req *http.Request, via []*http.Request) string {
	from := via[len(via)-1].URL
	switch {
	case len(via) > c.MaxRedirects:
		return fmt.Sprintf("there were more than %d in a row", c.MaxRedirects)
	case req.URL.User != nil:
		return "it brings its own credentials"
	}
	if reason, ok := reach.May(from, req.URL); !ok {
		return reason
	}
	switch {
	case req.URL.Scheme == "https":
		return ""
	case req.URL.Scheme == "http" && from.Scheme == "http" && IsLoopback(from) && IsLoopback(req.URL):
		return ""
	}
	return "only https is followed"
}

// leftOrigin reports whether any hop was on another origin than the first.
// net/http takes the headers of each hop from the first request, so that a hop
// back would get its credentials again; but then another server chose the URL.
func leftOrigin(req *http.Request, via []*http.Request) bool {
	for _, earlier := range via[1:] {
		if !SameOrigin(via[0].URL, earlier.URL) {
			return true
		}
	}
	return !SameOrigin(via[0].URL, req.URL)
}

// locationChecker refuses redirects to what is no URL, which net/http would
// refuse in words that repeat all of it.
type locationChecker struct{ http.RoundTripper }

func (l locationChecker) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	location := resp.Header.Get("Location")
	if _, err := req.URL.Parse(location); err != nil && resp.StatusCode/100 == 3 {
		_ = resp.Body.Close() // it is not wanted
		return nil, &RedirectError{To: addrs.Redact(location), Reason: "it is not a valid URL"}
	}
	return resp, nil
}

func keepHarmless(req *http.Request) {
	kept := http.Header{}
	for _, name := range harmless {
		if values := req.Header.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	req.Header = kept
}
