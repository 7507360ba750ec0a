package getmodules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/addrs"
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
	target := httpTarget{
		url: h.at(gitRefsPath, "service=git-upload-pack"), user: h.user, accept: http.StatusOK, agent: gitAgent,
	}
	return h.fetcher.get(ctx, target, func(answer *httpAnswer) error {
		if kind := answer.Header.Get("Content-Type"); kind != "application/x-git-upload-pack-advertisement" {
			return fmt.Errorf("%w: %q answers with %q; it is no git repository, or one for git's dumb protocol, which is not supported",
				ErrRepositoryNotFound, addrs.Redact(answer.asked[0].String()), kind)
		}
		if err := h.moved(answer.asked); err != nil {
			return err
		}
		return read(answer.Body)
	})
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
		if origin(u) != origin(asked[0]) {
			h.user = nil
		}
	}
	last.Path, last.RawPath, last.RawQuery = path, "", h.base.RawQuery
	h.base = &last
	return nil
}

// Ask sends a request, which may be repeated: it changes nothing.
func (h *gitHTTP) Ask(ctx context.Context, request []byte, read func(io.Reader) error) error {
	return h.fetcher.repeat(ctx, h.base.Host, func() error { return h.askOnce(ctx, request, read) })
}

func (h *gitHTTP) askOnce(ctx context.Context, text []byte, read func(io.Reader) error) error {
	u := h.at(gitPackPath, "")
	// A server may count its objects for longer than it may take to begin to
	// answer otherwise.
	ctx, guard := guardStall(ctx, u, h.fetcher.floor(gitIdle))
	defer guard.Stop()
	request, err := newRequest(ctx, http.MethodPost, u, h.user)
	if err != nil {
		return err
	}
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	request.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	request.Header.Set("Accept", "application/x-git-upload-pack-result")
	request.Header.Set("User-Agent", gitAgent)
	response, err := h.fetcher.transport().RoundTrip(request)
	if err != nil {
		return guard.explain(&networkError{u, err})
	}
	defer response.Body.Close()
	if next, err := redirect(response, u); err != nil || next != nil {
		return errors.Join(err, fmt.Errorf("%w: the server redirects the request for the content", ErrRefusedLocation))
	}
	if response.StatusCode != http.StatusOK {
		return newStatusError(&httpAnswer{response, []*url.URL{u}})
	}
	return guard.explain(read(guard.body(response.Body)))
}

// Close has nothing to do: there is no connection between requests.
func (h *gitHTTP) Close() error { return nil }
