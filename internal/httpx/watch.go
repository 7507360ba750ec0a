package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/internal/minrate"
)

// timeoutError says that an attempt exceeded its timeout.
type timeoutError struct{ bound time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the server has not answered in full within %v", e.bound)
}

// watch cancels an attempt that takes too long or is too slow.
type watch struct {
	ctx    context.Context
	guard  *minrate.Guard // nil if there is no floor
	cancel context.CancelFunc
}

// watch returns a context for an attempt and the watch that can cancel it.
func (c *Client) watch(ctx context.Context) (context.Context, *watch) {
	w := &watch{ctx: ctx, cancel: func() {}}
	if c.AttemptTimeout > 0 {
		w.ctx, w.cancel = context.WithTimeoutCause(w.ctx, c.AttemptTimeout, &timeoutError{c.AttemptTimeout})
	}
	if c.Floor.Window > 0 {
		w.ctx, w.guard = c.Floor.Watch(w.ctx)
	}
	return w.ctx, w
}

// restart begins the first window of an answer.
func (w *watch) restart() {
	if w.guard != nil {
		w.guard.Restart()
	}
}

func (w *watch) add(n int) {
	if w.guard != nil {
		w.guard.Add(n)
	}
}

func (w *watch) stop() {
	if w.guard != nil {
		w.guard.Stop()
	}
	w.cancel()
}

// networkError returns the error of a failed attempt. If the watch has cancelled the attempt, it
// returns the reason instead of err.
func (w *watch) networkError(asked []*url.URL, err error) *NetworkError {
	cause := context.Cause(w.ctx)
	if is[*timeoutError](cause) || errors.Is(cause, minrate.ErrStalled) || errors.Is(cause, ErrTooSlow) {
		err = cause
	}
	return &NetworkError{RedirectedTo: lastRedirect(asked), Err: withoutURL(err)}
}

// body is the body of an answer that a watch controls.
type body struct {
	io.ReadCloser
	watch *watch
	asked []*url.URL
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watch.add(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.watch.networkError(b.asked, err)
	}
	return n, err
}

func (b *body) Close() error {
	defer b.watch.stop()
	return b.ReadCloser.Close()
}
