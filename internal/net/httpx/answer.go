package httpx

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/cotterpin/cotter/internal/text/jsonkeys"
)

// maxExcerpt bounds what is kept of a body with another status than 2xx, in bytes. Most messages fit.
const maxExcerpt = 512

// Answer is an answer whose body has been read.
type Answer struct {
	StatusCode int
	Header     http.Header
	// Body is whole for 2xx, and otherwise the beginning.
	Body []byte
	// Asked has the first URL and the targets of all redirects.
	Asked    []*url.URL
	Attempts int
	// Authorized is that of [Response].
	Authorized bool
	// RetryAfter is only set for temporary statuses.
	RetryAfter RetryAfter
}

// URL is the one after all redirects.
func (a *Answer) URL() *url.URL { return a.Asked[len(a.Asked)-1] }

// Status returns the code with its standard text instead of the server's.
func (a *Answer) Status() string {
	if http.StatusText(a.StatusCode) == "" {
		return fmt.Sprintf("status %d", a.StatusCode)
	}
	return fmt.Sprintf("%d %s", a.StatusCode, http.StatusText(a.StatusCode))
}

// SentFor says whether a request that was refused had credentials, which belong to a host, the owner.
func (a *Answer) SentFor(owner string) string {
	text := "no credentials were sent"
	if a.Authorized {
		text = "it does not accept the credentials that were sent"
	}
	if owner != a.URL().Host {
		text += " for " + owner
	}
	return text
}

// WebPage returns the media type of an answer that is a page for humans, and "" for another one.
func WebPage(header http.Header) string {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if kind != "text/html" && kind != "application/xhtml+xml" {
		return ""
	}
	return kind
}

// URL is the one after all redirects.
func (r *Response) URL() *url.URL { return r.Asked[len(r.Asked)-1] }

// ReadAll returns a [*TooLargeError] for more than limit bytes.
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

// Decode parses a server's JSON, in which no field may occur twice ([jsonkeys]). The error says what is wrong
// with it, on one line.
func Decode(text []byte, to any) error {
	err := jsonkeys.Unmarshal(text, to)
	if err == nil {
		return nil
	}
	if duplicate, ok := errors.AsType[*jsonkeys.DuplicateError](err); ok {
		return fmt.Errorf("in its JSON, %s", Printable(duplicate.Error()))
	}
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(err, jsonkeys.ErrTooMuch):
		return fmt.Errorf("its JSON would take too much memory: %w", err)
	case !ok:
		return fmt.Errorf("it is not valid JSON: %s", Printable(err.Error()))
	case mismatch.Field == "":
		return fmt.Errorf("it is JSON of another type than expected: %q", mismatch.Value)
	}
	return fmt.Errorf("the JSON has an unexpected type: %q is of the type %q", Printable(mismatch.Field), mismatch.Value)
}

// HasKnownEnd reports whether a lost connection would be noticed: by length, by chunks, or by HTTP/2.
func (r *Response) HasKnownEnd() bool {
	return r.ContentLength >= 0 || r.ProtoMajor >= 2 || len(r.TransferEncoding) > 0
}

// StatusError has the beginning of the body.
func (r *Response) StatusError() *StatusError {
	answer := r.answer()
	// If the body cannot be read, the status is enough.
	answer.Body, _ = io.ReadAll(io.LimitReader(r.Body, maxExcerpt))
	return &StatusError{Answer: answer}
}

func (r *Response) answer() *Answer {
	a := &Answer{StatusCode: r.StatusCode, Header: r.Header, Asked: r.Asked, Attempts: r.Attempts, Authorized: r.Authorized}
	if isTemporaryStatus(r.StatusCode) {
		a.RetryAfter = ParseRetryAfter(r.Header.Get("Retry-After"))
	}
	return a
}
