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

// received is an answer that is not in memory, if it is large. It must be closed.
type received struct {
	Answer
	file *os.File
	size int64
}

// receive sends a request. Another status than 2xx is a [*StatusError].
func (r *received) receive(c *Client, req *http.Request, limit int64) error {
	return c.Do(req, func(resp *Response) error {
		if err := r.close(); err != nil { // of an earlier attempt
			return err
		}
		*r = received{Answer: *resp.answer()}
		return r.keep(req.Context(), resp, limit)
	})
}

func (r *received) keep(ctx context.Context, resp *Response, limit int64) error {
	if resp.ContentLength > limit {
		return &TooLargeError{Limit: limit}
	}
	err := r.readHead(resp.Body, min(inMemory, limit+1))
	if err == nil && len(r.Body) == inMemory {
		if r.file, err = os.CreateTemp("", "cotter-answer-*"); err == nil {
			_ = os.Remove(r.file.Name()) // a killed run leaves nothing; on Windows, close removes it
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
func (r *received) readHead(body io.Reader, max int64) error {
	more, err := io.ReadAll(io.LimitReader(body, max-int64(len(r.Body))))
	r.Body = append(r.Body, more...)
	return err
}

// use calls a function that reads the Body. It may wait for others that use large ones, until ctx is done.
func (r *received) use(ctx context.Context, use func(*Answer) error) error {
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

// close removes what is kept of the answer.
func (r *received) close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	if removed := os.Remove(r.file.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	r.file = nil
	return err
}
