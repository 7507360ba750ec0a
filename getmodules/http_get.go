package getmodules

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/reach"
)

const (
	// maxRedirects is enough for a forge that leads to its storage, by way of
	// its canonical host name.
	maxRedirects = 5
	// maxLocation bounds addresses that servers name.
	maxLocation = 8 << 10
)

// httpTarget is what to ask for.
type httpTarget struct {
	url  *url.URL
	user *url.Userinfo // nil for none
	// accept is the status that is wanted; 0 means any 2xx.
	accept int
	// agent is the User-Agent; "" means that of net/http.
	agent string
}

// httpAnswer is an answer with the wanted status.
type httpAnswer struct {
	*http.Response
	// asked are the URLs from the first to the one that answered.
	asked []*url.URL
}

// get asks for target and hands the answer to receive, again if something goes
// wrong that may go right next time: receive may be called several times, and
// each time with the whole answer.
func (f *Fetcher) get(ctx context.Context, target httpTarget, receive func(*httpAnswer) error) error {
	return f.repeat(ctx, target.url.Host, func() error { return f.getOnce(ctx, target, receive) })
}

func (f *Fetcher) getOnce(ctx context.Context, target httpTarget, receive func(*httpAnswer) error) error {
	watched, guard := guardStall(ctx, target.url, f.floor(defaultStallTimeout))
	defer guard.Stop()
	answer, err := f.follow(watched, target)
	if err != nil {
		return guard.explain(err)
	}
	defer answer.Body.Close()
	answer.Body = guard.body(answer.Body)
	switch status := answer.StatusCode; {
	case target.accept == 0 && status >= 200 && status <= 299, status == target.accept:
		return guard.explain(receive(answer))
	}
	return newStatusError(answer)
}

// follow asks for target and follows redirects, each by a new request. Nothing
// is taken along: no Referer, no cookies, and credentials only as long as the
// origin stays the same.
func (f *Fetcher) follow(ctx context.Context, target httpTarget) (*httpAnswer, error) {
	asked := []*url.URL{target.url}
	for user := target.user; ; {
		at := asked[len(asked)-1]
		response, err := f.ask(ctx, at, user, target.agent)
		if err != nil {
			return nil, err
		}
		next, err := redirect(response, at)
		if err != nil || next == nil {
			return &httpAnswer{response, asked}, err
		}
		if len(asked) > maxRedirects {
			return nil, fmt.Errorf("%w: more than %d redirects", ErrRefusedLocation, maxRedirects)
		}
		if origin(next) != origin(at) {
			user = nil
		}
		asked = append(asked, next)
	}
}

// redirect is where an answer leads; nil if it is no redirect. The body of a
// redirect is closed.
func redirect(response *http.Response, from *url.URL) (*url.URL, error) {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := response.Header.Get("Location")
	if err := response.Body.Close(); err != nil {
		return nil, &networkError{from, err}
	}
	return checkRedirect(from, location)
}

// checkRedirect is where a redirect goes, if it may.
func checkRedirect(from *url.URL, location string) (*url.URL, error) {
	next, reason := reach.Redirect(from, location)
	if reason != "" {
		return nil, fmt.Errorf("%w: %q redirects %s", ErrRefusedLocation, origin(from), reason)
	}
	return next, nil
}

// ask makes one request. It goes to the transport, not to the client, because a
// client follows redirects by rules of its own and quotes URLs in its errors.
func (f *Fetcher) ask(ctx context.Context, u *url.URL, user *url.Userinfo, agent string) (*http.Response, error) {
	request, err := newRequest(ctx, http.MethodGet, u, user)
	if err != nil {
		return nil, err
	}
	if agent != "" {
		request.Header.Set("User-Agent", agent)
	}
	response, err := f.transport().RoundTrip(request)
	if err != nil {
		return nil, &networkError{u, err}
	}
	return response, nil
}

// newRequest is a request with the credentials of the address, if it has some.
func newRequest(ctx context.Context, method string, u *url.URL, user *url.Userinfo) (*http.Request, error) {
	request := (&http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}}).WithContext(ctx)
	// The sums are those of the bytes as they are stored.
	request.Header.Set("Accept-Encoding", "identity")
	if user != nil {
		if u.Scheme != "https" && !isLoopbackHost(u) {
			return nil, errors.New("the address holds credentials, which are sent by https only")
		}
		password, _ := user.Password()
		pair := user.Username() + ":" + password
		request.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	return request, nil
}

func (f *Fetcher) transport() http.RoundTripper {
	if f.HTTPClient != nil && f.HTTPClient.Transport != nil {
		return f.HTTPClient.Transport
	}
	return http.DefaultTransport
}

// networkError is a request or an answer that failed on its way.
type networkError struct {
	url *url.URL
	err error
}

func (e *networkError) Error() string {
	// net/http repeats headers that are malformed.
	return fmt.Sprintf("%s: %s", addrs.Redact(e.url.String()), addrs.RedactText(e.err.Error()))
}

func (e *networkError) Unwrap() error { return e.err }
