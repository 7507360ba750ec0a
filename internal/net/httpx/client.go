package httpx

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/process/trace"
)

const (
	// DefaultTimeout is for attempts with short answers. Stock tools give up after 10 s, but some
	// registries take longer for listings.
	DefaultTimeout = 30 * time.Second
	// Some servers block unnamed clients.
	defaultUserAgent = "cotter"
	// maxDrain bounds what is read of a redirect's body, in bytes.
	maxDrain = 2 << 10
)

// Client sends requests. The zero value follows no redirects, retries with the defaults of [Retry] and has
// no timeouts. It is safe for concurrent use.
type Client struct {
	// HTTP provides only the transport. nil means http.DefaultTransport.
	HTTP *http.Client
	// UserAgent is sent with requests without that header. "" means "cotter".
	UserAgent string
	// MaxRedirects limits the redirects of one attempt. If it is 0, redirecting answers are returned.
	MaxRedirects int
	// Refuse returns why a redirect that all clients follow must not be followed, or "". The target may
	// have credentials, which are dropped later. It may be nil.
	Refuse func(from, to *url.URL) (reason string)
	Retry  Retry
	// AttemptTimeout limits one attempt with its body. 0 means no limit.
	AttemptTimeout time.Duration
	// TotalTimeout limits [Client.Do]. 0 means no limit.
	TotalTimeout time.Duration
	// Floor has no minimum if its Window is 0.
	Floor Floor
}

// TimeoutOf returns the Timeout of a user's client, or [DefaultTimeout].
func TimeoutOf(user *http.Client) time.Duration {
	if user == nil {
		return DefaultTimeout
	}
	return cmp.Or(user.Timeout, DefaultTimeout)
}

// Response has a body that is not read yet, and that the caller must close. Its errors other than io.EOF
// are [*NetworkError].
type Response struct {
	*http.Response
	// Asked has the first URL and the targets of all redirects, of which the last has answered.
	Asked []*url.URL
	// Attempts is the number that [Client.Do] has made so far.
	Attempts int
	// Authorized says that the last request had credentials, which a redirect to another server removes.
	Authorized bool
}

// Send makes one attempt, with redirects. Every status is an answer, except for redirects that are followed
// or refused.
func (c *Client) Send(req *http.Request) (answer *Response, err error) {
	target := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}
	traced, done := trace.Start(req.Context(), trace.Operation{Kind: "http", Name: req.Method, Target: addrs.Redact(target.String())})
	defer func() {
		failed := err
		if err == nil && answer.StatusCode >= http.StatusBadRequest {
			failed = errors.New("the server answered " + answer.Status) // the body is the caller's
		}
		done(failed)
	}()
	if err := checkHeader(req.Header); err != nil {
		closeBody(req)
		return nil, err
	}
	ctx, w := c.watch(traced)
	req = withNormalHost(req.Clone(ctx))
	if err := checkRule(ctx, req.URL); err != nil {
		w.stop()
		closeBody(req)
		return nil, err
	}
	answer, err = c.follow(req, w)
	if err != nil {
		w.stop()
		return nil, err
	}
	w.restart()
	answer.Body = &body{ReadCloser: answer.Body, watch: w, asked: answer.Asked}
	return answer, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// withNormalHost spells a host in the way that all clients read alike.
func withNormalHost(req *http.Request) *http.Request {
	written := req.URL.Host
	hostname.NormalizeURL(req.URL)
	if req.Host == written {
		req.Host = req.URL.Host
	}
	return req
}

// RoundTrip returns answers with every status. Until the headers have arrived, it tries again after a lost
// connection and after temporary statuses, but not if no connection can be established. A request with a
// body must have GetBody. The last answer has no body if its status is temporary.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	var answer *Response
	err := c.Retry.Do(req.Context(), req.URL.Host, func() error {
		attempt, err := cloneWithBody(req.Context(), req)
		if err != nil {
			return err
		}
		if answer, err = c.Send(attempt); err != nil {
			return notRepeatedDial(err)
		}
		if !isTemporaryStatus(answer.StatusCode) {
			return nil
		}
		defer answer.Body.Close()
		return answer.StatusError()
	})
	if is[*StatusError](err) {
		answer.Body = http.NoBody
		return answer.Response, nil
	}
	if dial, ok := errors.AsType[*dialError](err); ok {
		err = dial.err
	}
	if err != nil {
		return nil, err
	}
	return answer.Response, nil
}

// dialError hides a failure to connect from [IsTemporary].
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }

func notRepeatedDial(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return &dialError{err}
	}
	return err
}

// follow follows redirects. It modifies the request.
func (c *Client) follow(req *http.Request, w *watch) (*Response, error) {
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", cmp.Or(c.UserAgent, defaultUserAgent))
	}
	asked := []*url.URL{req.URL}
	for {
		answer, err := c.roundTrip(req)
		if denied, ok := errors.AsType[*DeniedError](err); ok {
			return nil, refusedAfter(asked, denied)
		}
		if err != nil {
			return nil, w.networkError(asked, err)
		}
		if answer.Body == nil {
			answer.Body = http.NoBody
		}
		if c.MaxRedirects == 0 || !isRedirect(answer.StatusCode) {
			return &Response{Response: answer, Asked: asked, Authorized: req.Header.Get("Authorization") != ""}, nil
		}
		drain(answer)
		next, err := c.next(req, asked, answer.Header.Get("Location"))
		if err != nil {
			return nil, err
		}
		req = redirected(req.WithContext(PointedToHost(req.Context(), req.URL, next)), next)
		asked = append(asked, next)
	}
}

// drain reads a short body, so that the connection can be reused, and ignores errors.
func drain(answer *http.Response) {
	if answer.ContentLength <= maxDrain {
		_, _ = io.CopyN(io.Discard, answer.Body, maxDrain)
	}
	_ = answer.Body.Close()
}

func (c *Client) transport() http.RoundTripper {
	if c.HTTP != nil && c.HTTP.Transport != nil {
		return c.HTTP.Transport
	}
	return http.DefaultTransport
}

// Do passes an answer to receive if its status is 2xx; any other is a [*StatusError]. It tries again after
// failures that may be temporary, also those of receive, which is called with a new answer each time and
// need not close the body. A request with a body must have GetBody.
func (c *Client) Do(req *http.Request, receive func(*Response) error) error {
	ctx := req.Context()
	if c.TotalTimeout > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, c.TotalTimeout, ErrTooSlow)
		defer cancel()
		ctx = bounded
	}
	attempts := 0
	return c.Retry.Do(ctx, req.URL.Host, func() error {
		attempts++
		attempt, err := cloneWithBody(ctx, req)
		if err != nil {
			return err
		}
		answer, err := c.Send(attempt)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		answer.Attempts = attempts
		if answer.StatusCode/100 != 2 {
			return answer.StatusError()
		}
		return receive(answer)
	})
}

func cloneWithBody(ctx context.Context, req *http.Request) (*http.Request, error) {
	clone := req.Clone(ctx)
	if req.GetBody == nil {
		return clone, nil
	}
	var err error
	clone.Body, err = req.GetBody()
	return clone, err
}
