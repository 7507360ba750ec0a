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
	ctx    context.Context
	cancel context.CancelCauseFunc
	url    *url.URL
	period time.Duration
	got    atomic.Int64 // bytes in this period
}

// guardStall derives the context for a request. timeout 0 means the default.
func guardStall(ctx context.Context, u *url.URL, timeout time.Duration) (context.Context, *stallGuard) {
	g := &stallGuard{url: u, period: cmp.Or(timeout, defaultStallTimeout)}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	go g.watch()
	return g.ctx, g
}

// watch looks at what came in each period, until stop.
func (g *stallGuard) watch() {
	ticker := time.NewTicker(g.period)
	defer ticker.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-ticker.C:
		}
		if g.got.Swap(0) < g.least() {
			g.cancel(errStalled)
			return
		}
	}
}

func (g *stallGuard) least() int64 { return max(1, int64(g.period.Seconds()*minRate)) }

// body counts what an answer's body brings. The rest of the period in which it
// begins is free.
func (g *stallGuard) body(body io.ReadCloser) io.ReadCloser {
	g.got.Store(g.least())
	return &guardedBody{g, body}
}

func (g *stallGuard) stop() { g.cancel(nil) }

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
