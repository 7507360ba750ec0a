package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"time"
)

// DefaultRate is the default minimum of the average rate in bytes per second. Even an old modem is
// faster.
const DefaultRate = 4 << 10

// StalledError says that a transfer was too slow: it was below its [Floor].
type StalledError struct {
	// Got is the number of bytes that arrived in a window, and Least the number that had to
	// arrive.
	Got, Least int64
	Window     time.Duration
}

func (e *StalledError) Error() string {
	if e.Got == 0 {
		return fmt.Sprintf("the server has sent nothing for %v", e.Window)
	}
	return fmt.Sprintf("the server has sent %d bytes in %v, less than %d", e.Got, e.Window, e.Least)
}

// Unwrap returns [ErrStalled].
func (e *StalledError) Unwrap() error { return ErrStalled }

// Floor is the minimum rate of a transfer. A server that sends a byte now and then never causes a
// timeout for silence, so a transfer must deliver a minimum number of bytes in each window of time.
// The first window gives the server time to prepare the answer: a single byte is enough.
type Floor struct {
	// PerSecond is the minimum average rate over a window in bytes per second. 0 means [DefaultRate].
	// If it is negative, one byte in each window is enough.
	PerSecond int64
	// Window is the time over which the average is computed. It must be positive.
	Window time.Duration
}

// Rate returns the minimum rate in bytes per second, or 0 if there is no minimum.
func (f Floor) Rate() int64 {
	if f.PerSecond == 0 {
		return DefaultRate
	}
	return max(f.PerSecond, 0)
}

// Least returns the number of bytes that must arrive in a window, at least one.
func (f Floor) Least() int64 { return max(1, int64(f.Window.Seconds()*float64(f.Rate()))) }

// Meter counts the bytes that arrive in a window. It does not measure time: its user decides when
// a window ends.
type Meter struct {
	Floor
	got   int64
	later bool
}

// Add counts n bytes.
func (m *Meter) Add(n int64) { m.got += n }

// End ends a window and begins the next. If too few bytes have arrived, it returns an [*StalledError].
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

// Watch returns a context for a transfer. If the transfer is too slow, the context is canceled
// with an [*StalledError] as its cause. The caller must call Stop.
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

// Add counts n bytes.
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

// Stop ends the watch and cancels the context.
func (g *Guard) Stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	g.timer.Stop()
	g.cancel(nil)
}

// Err returns the [*StalledError] for which the transfer was canceled, or nil.
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

// watch cancels an attempt that takes too long or is too slow.
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

// networkError returns the error of a failed attempt. If the watch has canceled the attempt, it
// returns the reason instead of err.
func (w *watch) networkError(asked []*url.URL, err error) *NetworkError {
	cause := context.Cause(w.ctx)
	if is[*timeoutError](cause) || errors.Is(cause, ErrStalled) || errors.Is(cause, ErrTooSlow) {
		err = cause
	}
	return &NetworkError{RedirectedTo: lastRedirect(asked), Err: withoutURL(err)}
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
