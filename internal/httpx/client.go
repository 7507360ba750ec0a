package httpx

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/internal/minrate"
)

const (
	// DefaultTimeout is the bound of one attempt that callers use for short
	// answers if their user sets none. Stock tools give up after 10 s, which
	// listings of slow registries are known to exceed.
	DefaultTimeout = 30 * time.Second
	// defaultUserAgent names the program to servers that block unnamed ones.
	defaultUserAgent = "cotter"
	// maxDrain bounds what is read of the body of a redirect.
	maxDrain = 2 << 10
)

// Client sends requests. The zero value works: it follows no redirects, retries by
// the defaults of [Retry] and waits for slow servers. It is safe for concurrent use.
type Client struct {
	// HTTP gives the transport; nothing else of it is used. nil means
	// http.DefaultTransport.
	HTTP *http.Client
	// UserAgent is sent with requests that have no User-Agent of their own. ""
	// means "cotter".
	UserAgent string
	// MaxRedirects is how many redirects one attempt follows. With 0, answers
	// that redirect are returned as they are.
	MaxRedirects int
	// Refuse returns why a redirect that the package comment allows is not to be
	// followed, or "". The target may have credentials, which are dropped later.
	// nil refuses none; [InsecureRedirect] is one for services.
	Refuse func(from, to *url.URL) (reason string)
	// Retry says when requests are repeated.
	Retry Retry
	// AttemptTimeout bounds one attempt, up to the end of its body. 0 means no
	// bound.
	AttemptTimeout time.Duration
	// TotalTimeout bounds [Client.Do] and [Client.Read]. 0 means no bound.
	TotalTimeout time.Duration
	// Floor is the rate that an answer must keep to. Without a Window there is
	// none.
	Floor minrate.Floor
}

// TimeoutOf returns the Timeout of a user's client as an AttemptTimeout, and
// [DefaultTimeout] if there is none.
func TimeoutOf(user *http.Client) time.Duration {
	if user == nil {
		return DefaultTimeout
	}
	return cmp.Or(user.Timeout, DefaultTimeout)
}

// Response is an answer whose body is yet to be read. Errors of its Body, other
// than io.EOF, are of type [*NetworkError]. The body must be closed.
type Response struct {
	*http.Response
	// Asked holds the URLs that were requested: the first, and those of all
	// redirects. The last one gave the answer.
	Asked []*url.URL
	// Attempts is how many attempts were made so far, in [Client.Do].
	Attempts int
}

// Send makes one attempt: it sends the request and follows redirects. All
// statuses are answers, except those of redirects that are followed or refused.
func (c *Client) Send(req *http.Request) (*Response, error) {
	if err := checkHeader(req.Header); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as the transport would
		}
		return nil, err
	}
	ctx, w := c.watch(req.Context())
	answer, err := c.follow(req.Clone(ctx), w)
	if err != nil {
		w.stop()
		return nil, err
	}
	w.restart()
	answer.Body = &body{ReadCloser: answer.Body, watch: w, asked: answer.Asked}
	return answer, nil
}

// RoundTrip is [Client.Send] as an [http.RoundTripper].
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := c.Send(req)
	if err != nil {
		return nil, err
	}
	return answer.Response, nil
}

// follow sends a request and those to which its answers redirect. The request is
// changed.
func (c *Client) follow(req *http.Request, w *watch) (*Response, error) {
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", cmp.Or(c.UserAgent, defaultUserAgent))
	}
	asked := []*url.URL{req.URL}
	for {
		answer, err := c.transport().RoundTrip(req)
		if err != nil {
			return nil, w.networkError(asked, err)
		}
		if answer.Body == nil {
			answer.Body = http.NoBody
		}
		if c.MaxRedirects == 0 || !isRedirect(answer.StatusCode) {
			return &Response{Response: answer, Asked: asked}, nil
		}
		drain(answer)
		next, err := c.next(req.Method, asked, answer.Header.Get("Location"))
		if err != nil {
			return nil, err
		}
		req = redirected(req, next)
		asked = append(asked, next)
	}
}

// drain closes a body that is not wanted. If it is short, it is read first, so that
// the connection can be used again. Errors do not matter.
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

// Do sends a request, and hands the answer to receive if its status is 2xx; any
// other status is a [*StatusError]. It tries again after failures that may be
// temporary, of which receive may return some as well, such as those of the body.
// So receive may be called several times, each time with a new answer. It does
// not need to close the body. A request with a body must have GetBody to be
// repeated with it.
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
