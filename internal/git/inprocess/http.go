package inprocess

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
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/netguard"
)

// userAgent is how git's clients call themselves, by which some servers tell
// them from browsers.
const userAgent = "git/cotter"

// The ends of the URLs of git's smart protocol, by gitprotocol-http(5).
const (
	refsPath = "/info/refs"
	packPath = "/git-upload-pack"
)

// HTTP is a [Transport] for http and https, by version 0 of the protocol. It follows
// redirects of the request for the refs, which may be elsewhere than the address
// says.
type HTTP struct {
	// Refs and Packs are the clients for the two kinds of requests. A server may
	// count its objects for longer than it may take to begin to answer otherwise.
	ForRefs, ForPacks *httpx.Client
	// Repository is the address, without credentials.
	Repository *url.URL
	// User has credentials, which are sent by https only, and not to where another
	// origin redirects; nil means none.
	User *url.Userinfo

	base *url.URL // the repository, after redirects
}

// at is the URL of one of the repository's ends.
func (h *HTTP) at(path, query string) *url.URL {
	u := *h.Repository
	if h.base != nil {
		u = *h.base
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	u.RawPath = ""
	if u.RawQuery != "" && query != "" {
		query = "&" + query
	}
	u.RawQuery += query
	return &u
}

// request makes a request with the credentials of the user.
func (h *HTTP) request(ctx context.Context, method string, u *url.URL) (*http.Request, error) {
	req := (&http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}}).WithContext(ctx)
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", userAgent)
	if h.User == nil {
		return req, nil
	}
	if u.Scheme != "https" && !netguard.IsLoopback(u) {
		return nil, errors.New("the address holds credentials, which are sent by https only")
	}
	password, _ := h.User.Password()
	req.SetBasicAuth(h.User.Username(), password)
	return req, nil
}

// Refs asks for the list of refs.
func (h *HTTP) Refs(ctx context.Context, read func(io.Reader) error) error {
	req, err := h.request(ctx, http.MethodGet, h.at(refsPath, "service=git-upload-pack"))
	if err != nil {
		return err
	}
	return h.ForRefs.Do(req, func(answer *httpx.Response) error {
		if answer.StatusCode != http.StatusOK {
			return answer.StatusError()
		}
		if kind := answer.Header.Get("Content-Type"); kind != "application/x-git-upload-pack-advertisement" {
			return fmt.Errorf("%w: %q answers with %q; it is not a git repository, or only offers git's dumb protocol, which is not supported",
				git.ErrRepositoryNotFound, addrs.Redact(answer.Asked[0].String()), kind)
		}
		if err := h.moved(answer.Asked); err != nil {
			return err
		}
		return read(answer.Body)
	})
}

// moved follows the repository to where redirects led. Credentials stay where
// they were meant for.
func (h *HTTP) moved(asked []*url.URL) error {
	if len(asked) == 1 {
		return nil
	}
	last := *asked[len(asked)-1]
	path, ok := strings.CutSuffix(last.Path, refsPath)
	if !ok {
		return fmt.Errorf("%w: the redirect to %q does not lead to a repository", git.ErrRefused, addrs.Redact(last.String()))
	}
	for _, u := range asked {
		if !httpx.SameOrigin(u, asked[0]) {
			h.User = nil
		}
	}
	last.Path, last.RawPath, last.RawQuery = path, "", h.at("", "").RawQuery
	h.base = &last
	return nil
}

// Ask sends a request, which may be repeated: it changes nothing.
func (h *HTTP) Ask(ctx context.Context, text []byte, read func(io.Reader) error) error {
	req, err := h.request(ctx, http.MethodPost, h.at(packPath, ""))
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(text))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Accept", "application/x-git-upload-pack-result")
	return h.ForPacks.Do(req, func(answer *httpx.Response) error {
		if answer.StatusCode != http.StatusOK {
			return answer.StatusError()
		}
		return read(answer.Body)
	})
}

// Close has nothing to do: there is no connection between requests.
func (h *HTTP) Close() error { return nil }
