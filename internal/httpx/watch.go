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

// timeoutError says that an attempt was over its timeout.
type timeoutError struct{ bound time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the server has not answered in full within %v", e.bound)
}

// watch ends an attempt that takes too long or brings too little.
type watch struct {
	ctx    context.Context
	guard  *minrate.Guard // nil if there is no floor
	cancel context.CancelFunc
}

// watch derives the context of an attempt.
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

// networkError is an error of an attempt. If the watch ended the attempt, its
// reason replaces the consequences.
func (w *watch) networkError(asked []*url.URL, err error) *NetworkError {
	cause := context.Cause(w.ctx)
	if is[*timeoutError](cause) || errors.Is(cause, minrate.ErrStalled) || errors.Is(cause, ErrTooSlow) {
		err = cause
	}
	return &NetworkError{RedirectedTo: lastRedirect(asked), Err: withoutURL(err)}
}

// body is the body of an answer under watch.
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
