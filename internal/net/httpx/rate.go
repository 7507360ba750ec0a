package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
)

// DefaultRate is in bytes per second. Even an old modem is faster.
const DefaultRate = 4 << 10

// StalledError says that a transfer was below its [Floor]. It wraps [ErrStalled].
type StalledError struct {
	// Least is the number of bytes that had to arrive in a window.
	Got, Least int64
	Window     time.Duration
}

func (e *StalledError) Error() string {
	if e.Got == 0 {
		return fmt.Sprintf("the server has sent nothing for %v", e.Window)
	}
	return fmt.Sprintf("the server has sent %d bytes in %v, less than %d", e.Got, e.Window, e.Least)
}

func (e *StalledError) Unwrap() error { return ErrStalled }

// Floor is the minimum rate of a transfer, because a server that sends a byte now and then causes no
// timeout. In the first window, which gives it time to prepare the answer, a single byte is enough.
type Floor struct {
	// PerSecond is the average in bytes per second. 0 means [DefaultRate]; if it is negative, one byte in
	// each window is enough.
	PerSecond int64
	// Window must be positive.
	Window time.Duration
}

// Rate returns 0 if there is no minimum.
func (f Floor) Rate() int64 {
	if f.PerSecond == 0 {
		return DefaultRate
	}
	return max(f.PerSecond, 0)
}

func (f Floor) Least() int64 { return max(1, int64(f.Window.Seconds()*float64(f.Rate()))) }

// Meter counts the bytes of a window. Its user decides when a window ends.
type Meter struct {
	Floor
	got   int64
	later bool
}

func (m *Meter) Add(n int64) { m.got += n }

// End returns a [*StalledError] if too few bytes have arrived.
func (m *Meter) End() error {
	least := int64(1)
	if m.later {
		least = m.Least()
	}
	got := m.got
	m.got, m.later = 0, true
	if got < least {
		return &StalledError{Got: got, Least: least, Window: m.Window}
	}
	return nil
}

// Guard cancels a transfer that is too slow. It is safe for concurrent use.
type Guard struct {
	mu      sync.Mutex
	meter   Meter
	timer   *time.Timer
	stopped bool
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

// Watch returns a context that is canceled with a [*StalledError] if the transfer is too slow. The caller
// must call Stop.
func (f Floor) Watch(ctx context.Context) (context.Context, *Guard) {
	g := &Guard{meter: Meter{Floor: f}}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = time.AfterFunc(f.Window, g.end)
	return g.ctx, g
}

func (g *Guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	if err := g.meter.End(); err != nil {
		g.cancel(err)
		return
	}
	g.timer.Reset(g.meter.Window)
}

func (g *Guard) Add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.meter.Add(int64(n))
}

// Restart begins a new first window, for an answer after a request.
func (g *Guard) Restart() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	g.meter = Meter{Floor: g.meter.Floor}
	g.timer.Reset(g.meter.Window)
}

func (g *Guard) Stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	g.timer.Stop()
	g.cancel(nil)
}

func (g *Guard) Err() error {
	if e, ok := errors.AsType[*StalledError](context.Cause(g.ctx)); ok {
		return e
	}
	return nil
}

type timeoutError struct{ bound time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the server has not answered in full within %v", e.bound)
}

type watch struct {
	ctx    context.Context
	guard  *Guard // nil if there is no floor
	cancel context.CancelFunc
}

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

// networkError returns the reason if the watch has canceled the attempt, instead of err.
func (w *watch) networkError(asked []*url.URL, err error) *NetworkError {
	cause := context.Cause(w.ctx)
	if is[*timeoutError](cause) || errors.Is(cause, ErrStalled) || errors.Is(cause, ErrTooSlow) {
		err = cause
	}
	return &NetworkError{URL: addrs.Redact(asked[len(asked)-1].String()), Redirected: len(asked) > 1, Err: withoutURL(err)}
}

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
