package gitwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

const (
	service     = "git-upload-pack"
	requestType = "application/x-git-upload-pack-request"
	answerType  = "application/x-git-upload-pack-result"
	advertType  = "application/x-git-upload-pack-advertisement"
	// versionHeader requests protocol version 2. Servers that do not support it ignore the
	// header.
	versionHeader = "Git-Protocol"
	version2      = "version=2"
	// userAgent begins like git's, because some servers use it to distinguish git from
	// browsers.
	userAgent = "git/2.0 (cotter)"
)

// HTTP is a [Transport] for smart HTTP. It is not safe for concurrent use, because it remembers a
// redirect.
//
// Each request is one POST. Clients usually request the advertisement of capabilities first. HTTP
// does not, because this package only uses features that every server of version 2 has, servers keep
// no state between requests, and the answer of a server that only supports an older version is
// unambiguous ([ErrOldProtocol]). It requests the advertisement only after a redirect: by git's
// rules, this is the one request that may be redirected, and it shows where to send the others.
//
// No Authorization header, cookies or other user-specific headers are sent.
type HTTP struct {
	// RoundTripper sends single requests. It must not follow redirects.
	RoundTripper http.RoundTripper
	// Repository is the http or https URL of the repository, without userinfo, query and
	// fragment.
	Repository *url.URL

	base *url.URL // the URL of the repository after a redirect; nil if there was none
	// pointer is the URL that redirected to the host of base; nil if that is the host of Repository.
	pointer *url.URL
}

// endpoint returns a URL below the URL of the repository. Like git, it just appends the name:
// no part of the path has a special meaning.
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

// Ask implements [Transport].
func (t *HTTP) Ask(ctx context.Context, body []byte) (io.ReadCloser, error) {
	answer, err := t.postOnce(ctx, body)
	var moved *movedError
	if t.base != nil || !errors.As(err, &moved) {
		return answer, err
	}
	if err := t.discover(ctx); err != nil {
		return nil, err
	}
	return t.postOnce(ctx, body)
}

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

// movedError means that the server answered with a redirect.
type movedError struct{ to *url.URL }

func (*movedError) Error() string { return git.ErrRefused.Error() + ": the git server redirects again" }

// Unwrap returns [git.ErrRefused], because only one request may be redirected.
func (*movedError) Unwrap() error { return git.ErrRefused }

// do sends one request and checks that the answer has the wanted type.
func (t *HTTP) do(request *http.Request, wantType string) (io.ReadCloser, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	err = checkAnswer(response, request, wantType)
	if err != nil {
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
		if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err == nil && kind == "text/html" {
			return &PageError{ContentType: kind}
		}
		return ErrNotSmart
	}
	return nil
}

// Advertisement implements [Transport]. It does not follow redirects of its own; the URL of the
// repository is the one that an earlier request found.
func (t *HTTP) Advertisement(ctx context.Context) (io.ReadCloser, error) {
	u, err := t.endpoint(advertPath)
	if err != nil {
		return nil, err
	}
	u.RawQuery = advertQuery
	request, err := newRequest(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	return t.do(request, advertType)
}

// Close implements [Transport]. Requests over HTTP are independent of each other, so it does nothing.
func (t *HTTP) Close() error { return nil }
