package gitwire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
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

// Client sends requests to one repository. It is not safe for concurrent use, because it
// remembers a redirect.
type Client struct {
	// Transport sends single requests. It must not follow redirects.
	Transport http.RoundTripper
	// Repository is the http or https URL of the repository, without userinfo, query and
	// fragment.
	Repository *url.URL

	base *url.URL // the URL of the repository after a redirect; nil if there was none
}

// endpoint returns a URL below the URL of the repository. Like git, it just appends the name:
// no part of the path has a special meaning.
func (c *Client) endpoint(name string) (*url.URL, error) {
	repository := c.Repository
	if c.base != nil {
		repository = c.base
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

// post sends a request of the protocol. The caller must close the answer.
func (c *Client) post(ctx context.Context, body []byte) (io.ReadCloser, error) {
	answer, err := c.postOnce(ctx, body)
	var moved *movedError
	if c.base != nil || !errors.As(err, &moved) {
		return answer, err
	}
	if err := c.discover(ctx); err != nil {
		return nil, err
	}
	return c.postOnce(ctx, body)
}

func (c *Client) postOnce(ctx context.Context, body []byte) (io.ReadCloser, error) {
	u, err := c.endpoint(service)
	if err != nil {
		return nil, err
	}
	request, err := newRequest(ctx, http.MethodPost, u, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", requestType)
	request.Header.Set("Accept", answerType)
	return c.do(request, answerType)
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

func (*movedError) Error() string { return "the git server redirects" }

// do sends one request and checks that the answer has the wanted type.
func (c *Client) do(request *http.Request, wantType string) (io.ReadCloser, error) {
	response, err := c.Transport.RoundTrip(request)
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
		to, err := redirected(request.Context(), request.URL, response.Header.Get("Location"))
		if err != nil {
			return err
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
