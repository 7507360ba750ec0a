package gitwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const (
	service     = "git-upload-pack"
	requestType = "application/x-git-upload-pack-request"
	answerType  = "application/x-git-upload-pack-result"
	advertType  = "application/x-git-upload-pack-advertisement"
	// Servers without version 2 ignore versionHeader.
	versionHeader = "Git-Protocol"
	version2      = "version=2"
	// userAgent begins like git's, by which some servers tell git from browsers.
	userAgent = "git/2.0 (cotter)"
)

// HTTP is a [Transport] for smart HTTP. It remembers a redirect, so it is not safe for concurrent use. Each
// request is one POST without the usual advertisement: every server of version 2 has what is used here, keeps no
// state, and others answer with [ErrOldProtocol]. The advertisement is only requested after a redirect. No credentials
// are sent.
type HTTP struct {
	// RoundTripper must not follow redirects.
	RoundTripper http.RoundTripper
	// Repository has no userinfo, query and fragment.
	Repository *url.URL

	base *url.URL // the URL of the repository after a redirect; nil if there was none
	// pointer is the URL that redirected to another host; nil if none did.
	pointer *url.URL
}

// endpoint appends a name as git does: no part of the path has a special meaning.
func (t *HTTP) endpoint(name string) (*url.URL, error) {
	repository := t.Repository
	if t.base != nil {
		repository = t.base
	}
	u, err := url.Parse(strings.TrimSuffix(repository.String(), "/") + "/" + name)
	if err != nil {
		return nil, err
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("the repository's URL has parts that are not sent here")
	}
	return u, nil
}

func (t *HTTP) Ask(ctx context.Context, body []byte) (Answer, error) {
	answer, err := t.postOnce(ctx, body)
	var moved *movedError
	if t.base == nil && errors.As(err, &moved) {
		if err := t.discover(ctx); err != nil {
			return nil, err
		}
		answer, err = t.postOnce(ctx, body)
	}
	return httpAnswer{answer}, err
}

// httpAnswer ends with the body.
type httpAnswer struct{ io.ReadCloser }

func (httpAnswer) Ended() {}

func (t *HTTP) postOnce(ctx context.Context, body []byte) (io.ReadCloser, error) {
	u, err := t.endpoint(service)
	if err != nil {
		return nil, err
	}
	if t.pointer != nil {
		ctx = httpx.PointedTo(ctx, t.pointer)
	}
	request, err := newRequest(ctx, http.MethodPost, u, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", requestType)
	request.Header.Set("Accept", answerType)
	return t.do(request, answerType)
}

func newRequest(ctx context.Context, method string, u *url.URL, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	request.Header.Set(versionHeader, version2)
	request.Header.Set("User-Agent", userAgent)
	return request, nil
}

type movedError struct{ to *url.URL }

func (*movedError) Error() string { return git.ErrRefused.Error() + ": the git server redirects again" }

// Unwrap returns [git.ErrRefused], because only one request may be redirected.
func (*movedError) Unwrap() error { return git.ErrRefused }

func (t *HTTP) do(request *http.Request, wantType string) (io.ReadCloser, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if err := checkAnswer(response, request, wantType); err != nil {
		response.Body.Close()
		return nil, err
	}
	return response.Body, nil
}

func checkAnswer(response *http.Response, request *http.Request, wantType string) error {
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to, err := httpx.Redirect(request.Context(), request.URL, response.Header.Get("Location"))
		if err != nil {
			return fmt.Errorf("%w: %w", git.ErrRefused, err)
		}
		return &movedError{to}
	default:
		return &StatusError{StatusCode: response.StatusCode, RetryAfter: response.Header.Get("Retry-After")}
	}
	// A transport that decodes the content removes this header.
	if response.Header.Get("Content-Type") != wantType || response.Header.Get("Content-Encoding") != "" {
		if kind := httpx.WebPage(response.Header); kind != "" {
			return &httpx.PageError{ContentType: kind, Is: ErrNotSmart}
		}
		return ErrNotSmart
	}
	return nil
}

// Advertisement follows no redirects of its own.
func (t *HTTP) Advertisement(ctx context.Context) (io.ReadCloser, error) {
	u, err := t.endpoint(advertPath)
	if err != nil {
		return nil, err
	}
	u.RawQuery = advertQuery
	return t.get(ctx, u)
}

func (t *HTTP) get(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	request, err := newRequest(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	return t.do(request, advertType)
}

func (t *HTTP) Close() error { return nil }
