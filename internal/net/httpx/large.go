package httpx

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"

	"golang.org/x/sync/semaphore"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

// inMemory is how much of an answer is in memory while it is received, in bytes, because any number of them is received at
// the same time. The values of a text that is no longer take some MiB at most.
const inMemory = 64 << 10

// used is held while a text larger than inMemory, and the values that it is decoded to, are in memory. No server is waited
// for meanwhile.
var used = semaphore.NewWeighted(1)

// Received is an answer that is not in memory, if it is large. It must be closed.
type Received struct {
	Answer
	file *os.File
	size int64
}

// Receive is [Client.Read], without the Body of large answers until [Received.Use].
func (c *Client) Receive(req *http.Request, limit int64) (*Received, error) {
	var got *Received
	err := c.Do(req, func(resp *Response) error {
		if err := got.Close(); err != nil { // of an earlier attempt
			return err
		}
		got = &Received{Answer: *resp.answer()}
		return got.receive(req.Context(), resp, limit)
	})
	if status, ok := errors.AsType[*StatusError](err); ok {
		return &Received{Answer: *status.Answer}, nil
	}
	if err != nil {
		return nil, errors.Join(err, got.Close())
	}
	return got, nil
}

func (r *Received) receive(ctx context.Context, resp *Response, limit int64) error {
	if resp.ContentLength > limit {
		return &TooLargeError{Limit: limit}
	}
	err := r.readHead(resp.Body, min(inMemory, limit+1))
	if err == nil && len(r.Body) == inMemory {
		if r.file, err = os.CreateTemp("", "cotter-answer-*"); err == nil {
			_ = os.Remove(r.file.Name()) // a killed run leaves nothing; on Windows, Close removes it
			r.size, err = io.Copy(packagelimits.DiskOf(ctx).Writer(r.file), io.LimitReader(resp.Body, limit-inMemory+1))
		} else { // a container need not have a directory for temporary files
			err = r.readHead(resp.Body, limit+1)
		}
	}
	if r.size += int64(len(r.Body)); err == nil && r.size > limit {
		err = &TooLargeError{Limit: limit}
	}
	return err
}

// readHead reads until max bytes are in memory.
func (r *Received) readHead(body io.Reader, max int64) error {
	more, err := io.ReadAll(io.LimitReader(body, max-int64(len(r.Body))))
	r.Body = append(r.Body, more...)
	return err
}

// Use calls a function that reads the Body. It may wait for others that use large ones, until ctx is done.
func (r *Received) Use(ctx context.Context, use func(*Answer) error) error {
	if r.file != nil || len(r.Body) >= inMemory {
		if err := used.Acquire(ctx, 1); err != nil {
			return err
		}
		defer used.Release(1)
	}
	whole := r.Answer
	if r.file != nil {
		whole.Body = make([]byte, r.size)
		n := copy(whole.Body, r.Body)
		if _, err := r.file.ReadAt(whole.Body[n:], 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return use(&whole)
}

// Close removes what is kept of the answer. r may be nil.
func (r *Received) Close() error {
	if r == nil || r.file == nil {
		return nil
	}
	err := r.file.Close()
	if removed := os.Remove(r.file.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	r.file = nil
	return err
}
