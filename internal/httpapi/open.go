package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/cotterpin/cotter/internal/minrate"
)

// Open is [Client.Read] for a body that is too large for memory. Where the
// status is 200, the body comes as a stream; it is nil for all other answers.
// There are no retries once it is open. A *[NetworkError] over [ErrNoLength]
// is an error here too.
func (c *Client) Open(req *http.Request) (*Answer, *Stream, error) {
	w := newWatch(req.Context(), c.MinRate)
	var stream *Stream
	e := &exchange{policy: c.policy(), attempting: w.guard.Restart, waiting: w.guard.Pause}
	e.receive = func(a *Answer, resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			defer resp.Body.Close()
			return a.readExcerpt(resp)
		}
		if resp.ContentLength < 0 && resp.ProtoMajor < 2 && len(resp.TransferEncoding) == 0 {
			return ErrNoLength
		}
		w.guard.Restart()
		stream = &Stream{Length: resp.ContentLength, body: resp.Body, watch: w}
		return nil
	}
	answer, err := c.do(req.WithContext(w.ctx), e)
	if err != nil || stream == nil {
		w.stop()
		return answer, nil, err
	}
	return answer, stream, nil
}

// Stream is a body that has to be read and closed. Its Read fails with
// [ErrStalled] or [ErrTooSlow] by its own clock, not by that of the caller's
// http client, and with io.ErrUnexpectedEOF where the body ends too early.
type Stream struct {
	// Length is how many bytes the server has announced; negative where it has
	// not. Other lengths are failures of Read.
	Length int64
	body   io.ReadCloser
	*watch
}

func (s *Stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	if n > 0 {
		s.guard.Add(n)
	}
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case s.ctx.Err() != nil:
		return n, whyEnded(s.ctx)
	}
	return n, &NetworkError{Err: withoutURL(err)}
}

// Close ends the exchange.
func (s *Stream) Close() error {
	err := s.body.Close()
	s.stop()
	return err
}

// watch ends a download that does not get on.
type watch struct {
	ctx   context.Context
	guard *minrate.Guard
	end   context.CancelFunc
}

func newWatch(ctx context.Context, minRate int64) *watch {
	w := &watch{}
	w.ctx, w.end = context.WithTimeoutCause(ctx, DownloadTimeout, ErrTooSlow)
	w.ctx, w.guard = minrate.Floor{PerSecond: minRate, Window: StallTimeout}.Watch(w.ctx)
	return w
}

func (w *watch) stop() {
	w.guard.Stop()
	w.end()
}

// whyEnded is the error of a context, or our own reason for ending it. Reasons
// of others are left out, as callers look for context.Canceled.
func whyEnded(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrStalled) || errors.Is(cause, ErrTooSlow) {
		return cause
	}
	return ctx.Err()
}
