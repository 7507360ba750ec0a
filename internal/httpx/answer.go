package httpx

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxExcerpt is the number of bytes that are kept of a body with a status other than 2xx. It is
// enough for the error message of most services.
const maxExcerpt = 512

// Answer is an answer whose body has been read.
type Answer struct {
	StatusCode int
	Header     http.Header
	// Body is the whole body of a 2xx answer, or the first bytes of any other.
	Body []byte
	// Asked has the URLs that were requested: the first one and the targets of all redirects.
	Asked []*url.URL
	// Attempts is the number of attempts that were made.
	Attempts int
	// RetryAfter is the pause that the server asks for. It is not set if the status is not
	// temporary.
	RetryAfter RetryAfter
}

// Read sends a request like [Client.Do] and reads the answer, which may have at most limit bytes.
// If the last attempt has a status other than 2xx, that is an answer too.
func (c *Client) Read(req *http.Request, limit int64) (*Answer, error) {
	var answer *Answer
	err := c.Do(req, func(resp *Response) (err error) {
		answer = resp.answer()
		answer.Body, err = resp.ReadAll(limit)
		return err
	})
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Answer, nil
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// URL returns the URL that delivered the answer, after all redirects.
func (a *Answer) URL() *url.URL { return a.Asked[len(a.Asked)-1] }

// Status returns the status as text for messages, with the standard text for the code instead of
// the server's.
func (a *Answer) Status() string {
	status := fmt.Sprintf("%d %s", a.StatusCode, http.StatusText(a.StatusCode))
	if http.StatusText(a.StatusCode) == "" {
		status = fmt.Sprintf("status %d", a.StatusCode)
	}
	if a.Attempts > 1 {
		status += fmt.Sprintf(" after %d attempts", a.Attempts)
	}
	return status
}

// URL returns the URL that delivered the answer, after all redirects.
func (r *Response) URL() *url.URL { return r.Asked[len(r.Asked)-1] }

// ReadAll reads the body. If it has more than limit bytes, the error is a
// [*TooLargeError].
func (r *Response) ReadAll(limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, &TooLargeError{Limit: limit}
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > limit:
		return nil, &TooLargeError{Limit: limit}
	}
	return text, nil
}

// HasKnownEnd reports whether the end of the body can be distinguished from a lost connection: by
// its length, by chunks, or by HTTP/2.
func (r *Response) HasKnownEnd() bool {
	return r.ContentLength >= 0 || r.ProtoMajor >= 2 || len(r.TransferEncoding) > 0
}

// StatusError returns the answer as an error, with the beginning of its body.
func (r *Response) StatusError() *StatusError {
	answer := r.answer()
	// If the body cannot be read, the status is enough.
	answer.Body, _ = io.ReadAll(io.LimitReader(r.Body, maxExcerpt))
	return &StatusError{Answer: answer}
}

func (r *Response) answer() *Answer {
	a := &Answer{StatusCode: r.StatusCode, Header: r.Header, Asked: r.Asked, Attempts: r.Attempts}
	if isTemporaryStatus(r.StatusCode) {
		a.RetryAfter = ParseRetryAfter(r.Header.Get("Retry-After"))
	}
	return a
}
