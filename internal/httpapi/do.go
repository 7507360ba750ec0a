package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/net/http/httpguts"
)

// Read sends req, which has no body, and reads the answer, which may have limit
// bytes. Any status that is left after the retries is an answer. An error is
// the context's, a *[TooLargeError], *[RedirectError] or *[HeaderError], or a
// *[NetworkError] for all else.
func (c *Client) Read(req *http.Request, limit int64) (*Answer, error) {
	e := &exchange{policy: c.policy(), timeout: c.timeout()}
	e.receive = func(a *Answer, resp *http.Response) error {
		defer resp.Body.Close()
		return a.readWhole(resp, limit)
	}
	return c.do(req, e)
}

// exchange is one request with all its attempts.
type exchange struct {
	*policy
	timeout time.Duration // of one attempt
	// receive takes what is wanted of a response. Where it fails, the attempt
	// has failed.
	receive func(*Answer, *http.Response) error
	// attempting and waiting are told what is under way. They may be nil.
	attempting, waiting func()
	answer              *Answer
}

func (c *Client) do(req *http.Request, e *exchange) (*Answer, error) {
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", cmp.Or(c.UserAgent, defaultUserAgent))
	if err := checkHeader(req.Header); err != nil {
		return nil, err
	}
	retryable := &retryablehttp.Request{Request: req}
	retryable.SetResponseHandler(e.take)
	resp, err := c.retrying(e, req.URL.Host).Do(retryable)
	if err == nil && e.answer == nil {
		// The last response called for yet another attempt, and so was never
		// taken.
		err = e.take(resp)
	}
	if err != nil {
		return nil, e.failure(req.Context(), err)
	}
	e.answer.Attempts = e.attempts
	return e.answer, nil
}

func (c *Client) retrying(e *exchange, host string) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: c.httpClient(e.timeout),
		RetryMax:   c.retries(),
		CheckRetry: e.retry,
		RequestLogHook: func(_ retryablehttp.Logger, req *http.Request, _ int) {
			_ = c.Pauses.Wait(req.Context(), host) // a request whose context has ended fails by itself
			e.attempts++
			call(e.attempting)
		},
		Backoff: func(_, _ time.Duration, attempt int, resp *http.Response) time.Duration {
			call(e.waiting)
			wait, asked := e.wait(attempt, resp)
			if asked {
				c.Pauses.Ask(host, wait)
			}
			return wait
		},
		ErrorHandler: func(resp *http.Response, err error, _ int) (*http.Response, error) {
			if err != nil && resp != nil {
				// Nothing is lost with it: the answer has failed already.
				_ = resp.Body.Close()
			}
			return resp, err
		},
	}
}

func (e *exchange) take(resp *http.Response) error {
	answer := newAnswer(resp)
	if err := e.receive(answer, resp); err != nil {
		_ = resp.Body.Close()
		return err
	}
	e.answer = answer
	return nil
}

// failure sorts the errors of an exchange.
func (e *exchange) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return whyEnded(ctx)
	}
	err = withoutURL(err)
	if refused := findRefusal(err); refused != nil {
		return refused
	}
	return &NetworkError{Attempts: e.attempts, Err: err}
}

// findRefusal gives our own verdict alone, out of what net/http has wrapped
// around it.
func findRefusal(err error) error {
	if refused, ok := errors.AsType[*RedirectError](err); ok {
		return refused
	}
	if large, ok := errors.AsType[*TooLargeError](err); ok {
		return large
	}
	return nil
}

// checkHeader finds what net/http would refuse only after it has been asked,
// and so looks like a failure of the network.
func checkHeader(header http.Header) error {
	for name, values := range header {
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return &HeaderError{Name: name}
			}
		}
	}
	return nil
}

func call(f func()) {
	if f != nil {
		f()
	}
}
