package gcs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/httpx"
)

const (
	// googleEndpoint is Google's own server.
	googleEndpoint = "https://storage.googleapis.com"
	// projectHeader names the quota project.
	projectHeader = "X-Goog-User-Project"
	// defaultRetries is how often a failed request is repeated by default.
	defaultRetries = 5
	// maxRedirects is how many redirects are followed for one request. None are
	// expected; a server that moved needs one.
	maxRedirects = 3
)

// endpoint returns the scheme and host to send requests to.
func (g *Getter) endpoint() (*url.URL, error) {
	text := cmp.Or(g.Endpoint, googleEndpoint)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("the endpoint of Google Cloud Storage is http:// or https:// and a host, but not %q", g.Endpoint)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// client returns the client for all requests.
func (g *Getter) client() *httpx.Client {
	c := &httpx.Client{
		HTTP:         g.HTTPClient,
		UserAgent:    g.UserAgent,
		MaxRedirects: maxRedirects,
		Refuse:       leavesHTTPS,
		Retry:        httpx.Retry{Max: cmp.Or(g.Retries, defaultRetries), Backoff: g.Backoff, Pauses: &g.pauses},
	}
	if g.HTTPClient != nil {
		c.AttemptTimeout = g.HTTPClient.Timeout
	}
	return c
}

// leavesHTTPS refuses redirects by http to another server.
func leavesHTTPS(from, to *url.URL) (reason string) {
	if to.Scheme != "https" && !httpx.SameOrigin(from, to) {
		return "another server is only followed by https"
	}
	return ""
}

// send requests something and has the answer's body read, again if that may help.
// read may be called several times.
func (b *bucket) send(ctx context.Context, path string, read func(*httpx.Response) error) error {
	return b.client.Retry.Do(ctx, b.endpoint.Host, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.endpoint.String()+"/storage/v1/b/"+path, http.NoBody)
		if err != nil {
			return err
		}
		used, err := b.getter.credentials(ctx, b.client)
		if err != nil {
			return err
		}
		if used.token != nil {
			used.token.SetAuthHeader(request)
			if used.project != "" {
				request.Header.Set(projectHeader, used.project)
			}
		}
		answer, err := b.client.Send(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK:
			return read(answer)
		case http.StatusRequestTimeout:
			return &httpx.TemporaryError{Err: newStatusError(answer, used)}
		}
		return newStatusError(answer, used)
	})
}

var errChecksum = errors.New("what was received does not have the checksum that the server names")
