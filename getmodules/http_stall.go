package getmodules

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	defaultStallTimeout = 30 * time.Second
	// minRate is the least that an answer's body must bring, in bytes a second
	// over each stall timeout.
	minRate = 1 << 10
)

var errStalled = errors.New("the server stopped sending, or sends less than 1 KiB a second")

// stallGuard cancels a request that does not get on: whose answer does not
// begin within the timeout, or whose body brings less than minRate in a period
// of that length.
type stallGuard struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	url     *url.URL
	timeout time.Duration
	timer   *time.Timer
	got     atomic.Int64 // bytes in this period
}

// guardStall derives the context for a request. timeout 0 means the default.
func guardStall(ctx context.Context, u *url.URL, timeout time.Duration) (context.Context, *stallGuard) {
	g := &stallGuard{url: u, timeout: cmp.Or(timeout, defaultStallTimeout)}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	g.timer = time.AfterFunc(g.timeout, func() { g.cancel(errStalled) })
	return g.ctx, g
}

// body watches an answer's body, from now on.
func (g *stallGuard) body(body io.ReadCloser) io.ReadCloser {
	g.timer.Stop()
	g.timer = time.AfterFunc(g.timeout, g.endPeriod)
	return &guardedBody{g, body}
}

func (g *stallGuard) endPeriod() {
	if g.got.Swap(0) < int64(g.timeout.Seconds()*minRate) {
		g.cancel(errStalled)
		return
	}
	g.timer.Reset(g.timeout)
}

func (g *stallGuard) stop() {
	g.timer.Stop()
	g.cancel(nil)
}

// explain replaces the consequences of a stall by their cause.
func (g *stallGuard) explain(err error) error {
	if err != nil && errors.Is(context.Cause(g.ctx), errStalled) {
		return &networkError{g.url, errStalled}
	}
	return err
}

type guardedBody struct {
	guard *stallGuard
	io.ReadCloser
}

func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.guard.got.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		err = &networkError{b.guard.url, err}
	}
	return n, err
}
