package httpx

import (
	"context"
	"errors"
	"net/http"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

// Login makes requests with the credentials that a user has for a server, which may have expired.
type Login struct {
	// Request returns a new request, with the current credentials if there are some.
	Request func() (*http.Request, error)
	// Renewed is called with a request that was answered with 401. It reports whether Request returns one with other
	// credentials now.
	Renewed func(refused *http.Request) bool
}

// Do calls send with a request, and once more if the credentials of the first were refused and have been renewed. It returns
// the error of Request, or the last one of send, which wraps a [*StatusError] if the server has refused the request.
func (l Login) Do(send func(*http.Request) error) error {
	for isRepeated := false; ; isRepeated = true {
		req, err := l.Request()
		if err != nil {
			return err
		}
		err = send(req)
		status, ok := errors.AsType[*StatusError](err)
		if !ok || status.Answer.StatusCode != http.StatusUnauthorized || isRepeated || !l.Renewed(req) {
			return err
		}
	}
}

// Document is a text that a server has, such as the list of a module's versions, and how it is read as a value.
type Document[V any] struct {
	Login Login
	// Limit is the maximum size of the text in bytes.
	Limit int64
	// Read returns the value of an answer, which can have any status. What the value keeps of the Body stays in memory.
	Read func(*Answer) (V, error)
	// Listed returns how many versions, platforms and hashes of the value a run keeps in memory; see
	// [packagelimits.Disk.List]. nil means none.
	Listed func(V) int
}

// Get requests the document, reads it, and counts what it lists for the run of the request's context. A large text is in a
// file until it is read, and one is read at a time. The error is that of [Login.Do] and [Client.Do], and then there is no
// answer; or it is that of Read, of the limit of the run, or of the context. The answer has no Body.
func (d Document[V]) Get(c *Client) (value V, answer *Answer, err error) {
	var none V
	got := new(received)
	defer func() { _ = got.close() }() // a file that could not be removed is in the directory for temporary ones
	ctx := context.Background()
	err = d.Login.Do(func(req *http.Request) error {
		ctx = req.Context()
		return got.receive(c, req, d.Limit)
	})
	if refused, ok := errors.AsType[*StatusError](err); ok {
		_ = got.close() // of an earlier attempt
		*got = received{Answer: *refused.Answer}
	} else if err != nil {
		return none, nil, err
	}
	err = got.use(ctx, func(answer *Answer) (err error) {
		value, err = d.Read(answer)
		return err
	})
	if err == nil && d.Listed != nil {
		err = packagelimits.DiskOf(ctx).List(d.Listed(value))
	}
	got.Body = nil
	if err != nil {
		return none, &got.Answer, err
	}
	return value, &got.Answer, nil
}
