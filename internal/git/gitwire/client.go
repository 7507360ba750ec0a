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
	// versionHeader asks for protocol version 2. Servers that do not know it
	// ignore it.
	versionHeader = "Git-Protocol"
	version2      = "version=2"
	// userAgent begins like git's because some servers tell git from browsers
	// by that.
	userAgent = "git/2.0 (cotter)"
)

// Client asks one repository. It is not safe for concurrent use: a redirect is
// remembered.
type Client struct {
	// Transport makes the requests, one each, and follows no redirects.
	Transport http.RoundTripper
	// Repository is the repository's URL, by http or https, without userinfo,
	// query and fragment.
	Repository *url.URL

	base *url.URL // where a redirect led
}

// endpoint is a URL below the repository's, which is joined as git does: no
// part of a path is special.
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

// post sends a request of the protocol. The caller closes the answer.
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

// movedError is a redirect.
type movedError struct{ to *url.URL }

func (*movedError) Error() string { return "the git server redirects" }

// do makes one request and checks that the answer is of the wanted type.
func (c *Client) do(request *http.Request, wantType string) (io.ReadCloser, error) {
	response, err := c.Transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	err = checkAnswer(response, request.URL, wantType)
	if err != nil {
		response.Body.Close()
		return nil, err
	}
	return response.Body, nil
}

func checkAnswer(response *http.Response, asked *url.URL, wantType string) error {
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to, err := redirected(asked, response.Header.Get("Location"))
		if err != nil {
			return err
		}
		return &movedError{to}
	default:
		return &StatusError{StatusCode: response.StatusCode, RetryAfter: response.Header.Get("Retry-After")}
	}
	// A transport that undoes an encoding removes this header.
	if response.Header.Get("Content-Type") != wantType || response.Header.Get("Content-Encoding") != "" {
		if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err == nil && kind == "text/html" {
			return &PageError{ContentType: kind}
		}
		return ErrNotSmart
	}
	return nil
}
