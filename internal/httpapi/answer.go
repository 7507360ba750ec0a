package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/internal/pause"
)

// maxExcerpt is how many bytes are kept of a body that is not wanted, which is
// enough for the message that most services send with a failure.
const maxExcerpt = 512

// Answer is what a service answered in the end.
type Answer struct {
	StatusCode int
	Header     http.Header
	// Body is the whole body of a 2xx answer, or the first bytes of any other.
	Body []byte
	// URL is what gave the answer, after all redirects.
	URL *url.URL
	// Attempts is how many requests it took, redirects not counted.
	Attempts int
	// RetryAfter is how long the server asks to be left alone; zero where it
	// does not ask.
	RetryAfter time.Duration
}

// Status is the status for people, with the standard text for the code and not
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

// IsSuccess reports whether the status is any 2xx.
func (a *Answer) IsSuccess() bool { return a.StatusCode/100 == 2 }

func newAnswer(resp *http.Response) *Answer {
	a := &Answer{StatusCode: resp.StatusCode, Header: resp.Header, URL: resp.Request.URL}
	if pause.IsTemporary(resp.StatusCode) {
		a.RetryAfter, _ = retryAfter(resp)
	}
	return a
}

// readWhole reads the body of a 2xx answer up to limit bytes.
func (a *Answer) readWhole(resp *http.Response, limit int64) error {
	if !a.IsSuccess() {
		return a.readExcerpt(resp)
	}
	if resp.ContentLength > limit {
		return &TooLargeError{Limit: limit}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return err
	}
	if int64(len(body)) > limit {
		return &TooLargeError{Limit: limit}
	}
	a.Body = body
	return nil
}

// readExcerpt takes what it can get: the status says enough by itself.
func (a *Answer) readExcerpt(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt))
	a.Body = body
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
