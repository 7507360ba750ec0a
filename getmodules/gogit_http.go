package getmodules

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
)

// gitAgent is how git's clients call themselves, by which some servers tell
// them from browsers.
const gitAgent = "git/cotter"

// The ends of the URLs of git's smart protocol, by gitprotocol-http(5).
const (
	gitRefsPath = "/info/refs"
	gitPackPath = "/git-upload-pack"
)

// gitHTTP carries the built-in client's conversations by http, under the rules
// of all other requests: the redirects, the credentials, the repetition.
type gitHTTP struct {
	fetcher *Fetcher
	// base is the repository, after the redirects of the first request.
	base *url.URL
	user *url.Userinfo
}

// at is the URL of one of the repository's ends.
func (h *gitHTTP) at(path, query string) *url.URL {
	u := *h.base
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	u.RawPath = ""
	if u.RawQuery != "" && query != "" {
		query = "&" + query
	}
	u.RawQuery += query
	return &u
}

// Refs asks for the list of refs, which may be elsewhere than the address says.
func (h *gitHTTP) Refs(ctx context.Context, read func(io.Reader) error) error {
	req, err := newRequest(ctx, http.MethodGet, h.at(gitRefsPath, "service=git-upload-pack"), h.user)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", gitAgent)
	return httpError(h.fetcher.httpClient(defaultStallTimeout).Do(req, func(answer *httpx.Response) error {
		if err := wantOK(answer); err != nil {
			return err
		}
		if kind := answer.Header.Get("Content-Type"); kind != "application/x-git-upload-pack-advertisement" {
			return fmt.Errorf("%w: %q answers with %q; it is no git repository, or one for git's dumb protocol, which is not supported",
				ErrRepositoryNotFound, addrs.Redact(answer.Asked[0].String()), kind)
		}
		if err := h.moved(answer.Asked); err != nil {
			return err
		}
		return read(answer.Body)
	}))
}

// moved follows the repository to where redirects led. Credentials stay where
// they were meant for.
func (h *gitHTTP) moved(asked []*url.URL) error {
	if len(asked) == 1 {
		return nil
	}
	last := *asked[len(asked)-1]
	path, ok := strings.CutSuffix(last.Path, gitRefsPath)
	if !ok {
		return fmt.Errorf("%w: the redirect to %q does not lead to a repository", ErrRefusedLocation, addrs.Redact(last.String()))
	}
	for _, u := range asked {
		if !httpx.SameOrigin(u, asked[0]) {
			h.user = nil
		}
	}
	last.Path, last.RawPath, last.RawQuery = path, "", h.base.RawQuery
	h.base = &last
	return nil
}

// Ask sends a request, which may be repeated: it changes nothing.
func (h *gitHTTP) Ask(ctx context.Context, text []byte, read func(io.Reader) error) error {
	req, err := newRequest(ctx, http.MethodPost, h.at(gitPackPath, ""), h.user)
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(text))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Accept", "application/x-git-upload-pack-result")
	req.Header.Set("User-Agent", gitAgent)
	// A server may count its objects for longer than it may take to begin to
	// answer otherwise.
	return httpError(h.fetcher.httpClient(gitIdle).Do(req, func(answer *httpx.Response) error {
		if err := wantOK(answer); err != nil {
			return err
		}
		return read(answer.Body)
	}))
}

// Close has nothing to do: there is no connection between requests.
func (h *gitHTTP) Close() error { return nil }
