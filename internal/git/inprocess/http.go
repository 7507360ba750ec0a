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
	"github.com/cotterpin/cotter/internal/hostname"
	"github.com/cotterpin/cotter/internal/httpx"
)

// userAgent begins like the user agents of git's clients, because some servers use it to
// distinguish them from browsers.
const userAgent = "git/cotter"

// The suffixes of the URLs of git's smart protocol; see gitprotocol-http(5).
const (
	refsPath = "/info/refs"
	packPath = "/git-upload-pack"
)

// HTTP is a [Transport] for http and https, with version 0 of the protocol. It follows
// redirects of the request for the refs, and then uses the new address of the repository.
type HTTP struct {
	// ForRefs and ForPacks send the two kinds of requests. They can have different timeouts,
	// because a server may need a long time to count the objects of a pack before it answers.
	ForRefs, ForPacks *httpx.Client
	// Repository is the URL of the repository, without credentials.
	Repository *url.URL
	// User has credentials. They are sent by https only, and not to another origin after a
	// redirect. nil means that there are none.
	User *url.Userinfo

	base *url.URL // the URL of the repository after redirects
	// pointer is the URL that redirected to the host of base; nil if that is the host of Repository.
	pointer *url.URL
}

// at returns the URL of the repository with the given suffix and query.
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

// request returns a request with the credentials of the user.
func (h *HTTP) request(ctx context.Context, method string, u *url.URL) (*http.Request, error) {
	if h.pointer != nil {
		ctx = httpx.PointedTo(ctx, h.pointer)
	}
	req := (&http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}}).WithContext(ctx)
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", userAgent)
	if h.User == nil {
		return req, nil
	}
	if u.Scheme != "https" && !hostname.IsLoopback(u) {
		return nil, errors.New("the address holds credentials, which are sent by https only")
	}
	password, _ := h.User.Password()
	req.SetBasicAuth(h.User.Username(), password)
	return req, nil
}

// Refs implements [Transport].
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

// moved records the URL of the repository after redirects. It drops the credentials if a
// redirect pointed to another origin.
func (h *HTTP) moved(asked []*url.URL) error {
	if len(asked) == 1 {
		return nil
	}
	last := *asked[len(asked)-1]
	path, ok := strings.CutSuffix(last.Path, refsPath)
	if !ok {
		return fmt.Errorf("%w: the redirect to %q does not point to a repository", git.ErrRefused, addrs.Redact(last.String()))
	}
	for i, u := range asked {
		if i > 0 && httpx.HostPort(asked[i-1]) != httpx.HostPort(u) {
			h.pointer = asked[i-1]
		}
		if !httpx.SameOrigin(u, asked[0]) {
			h.User = nil
		}
	}
	last.Path, last.RawPath, last.RawQuery = path, "", h.at("", "").RawQuery
	h.base = &last
	return nil
}

// Ask implements [Transport]. The request may be retried, because it changes nothing.
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

// Close does nothing, because there is no connection between requests.
func (h *HTTP) Close() error { return nil }
