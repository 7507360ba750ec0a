package gcs

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/reach"
)

// googleEndpoint is Google's own server.
const googleEndpoint = "https://storage.googleapis.com"

// endpoint is the scheme and host to ask.
func (g *Getter) endpoint() (string, error) {
	if g.Endpoint == "" {
		return googleEndpoint, nil
	}
	text := g.Endpoint
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", fmt.Errorf("the endpoint of Google Cloud Storage is http:// or https:// and a host, but not %q", g.Endpoint)
	}
	return u.Scheme + "://" + u.Host, nil
}

// maxRedirects is how many redirects are followed for one request. None are
// expected; a server that moved needs one.
const maxRedirects = 3

var errRedirect = errors.New("the server leads elsewhere")

// client is the HTTP client for all requests.
func (g *Getter) client() *http.Client {
	client := http.Client{}
	if g.HTTPClient != nil {
		client = *g.HTTPClient
	}
	client.Jar = nil
	client.CheckRedirect = checkRedirect
	return &client
}

// checkRedirect keeps the token from other servers, and from all networks on
// which others can read it.
func checkRedirect(next *http.Request, before []*http.Request) error {
	first := before[0].URL
	reason, ok := reach.May(before[len(before)-1].URL, next.URL)
	sameServer := next.URL.Scheme == first.Scheme && next.URL.Host == first.Host
	switch {
	case len(before) > maxRedirects:
		return fmt.Errorf("%w: more than %d times", errRedirect, maxRedirects)
	case !ok:
		return fmt.Errorf("%w: %s", errRedirect, reason)
	case !sameServer && next.URL.Scheme != "https":
		return fmt.Errorf("%w, not by https", errRedirect)
	case !sameServer:
		next.Header.Del("Authorization")
		next.Header.Del(projectHeader)
	}
	return nil
}
