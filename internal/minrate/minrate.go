// Package minrate ends transfers that bring too little.
//
// A server that sends a byte now and then never runs into a timeout for silence.
// So a transfer must bring a number of bytes in each window of time. The first
// window is for the server to get ready: any byte will do.
package minrate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Default is the least average rate in bytes a second. A modem of the last
// century brings more.
const Default = 4 << 10

// ErrStalled says that a transfer brought too little. It is found in every
// [*Error].
var ErrStalled = errors.New("the transfer is too slow")

// Error is a transfer that brought too little.
type Error struct {
	// Got is how many bytes came in a window, and Least how many had to come.
	Got, Least int64
	Window     time.Duration
}

func (e *Error) Error() string {
	if e.Got == 0 {
		return fmt.Sprintf("the server has sent nothing for %v", e.Window)
	}
	return fmt.Sprintf("the server has sent %d bytes in %v, less than %d", e.Got, e.Window, e.Least)
}

// Unwrap returns [ErrStalled].
func (e *Error) Unwrap() error { return ErrStalled }

// Floor is the least that a transfer must bring.
type Floor struct {
	// PerSecond is the least average rate over a window, in bytes a second. 0
	// means [Default]; if it is negative, one byte in each window will do.
	PerSecond int64
	// Window is the time over which the average is taken. It must be positive.
	Window time.Duration
}

// Rate returns the least rate in bytes a second; 0 means none.
func (f Floor) Rate() int64 {
	if f.PerSecond == 0 {
		return Default
	}
	return max(f.PerSecond, 0)
}

// Least returns how many bytes must come in a window, at least one.
func (f Floor) Least() int64 { return max(1, int64(f.Window.Seconds()*float64(f.Rate()))) }

// Meter counts what comes in a window. It knows no time: its user says when a
// window ends.
type Meter struct {
	Floor
	got   int64
	later bool
}

// Add counts bytes that came.
func (m *Meter) Add(n int64) { m.got += n }

// End ends a window and begins the next. The error is an [*Error].
func (m *Meter) End() error {
	least := int64(1)
	if m.later {
		least = m.Least()
	}
	got := m.got
	m.got, m.later = 0, true
	if got < least {
		return &Error{Got: got, Least: least, Window: m.Window}
	}
	return nil
}

// Guard ends a transfer that brings too little. It is safe for concurrent use.
type Guard struct {
	mu      sync.Mutex
	meter   Meter
	timer   *time.Timer
	stopped bool
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

// Watch derives the context of a transfer. When that brings too little, the
// context ends, with an [*Error] as its cause. The caller must call Stop.
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

// Add counts bytes that came.
func (g *Guard) Add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.meter.Add(int64(n))
}

// Restart begins a first window, for an answer that follows a request.
func (g *Guard) Restart() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	g.meter = Meter{Floor: g.meter.Floor}
	g.timer.Reset(g.meter.Window)
}

// Pause lets time pass until Restart.
func (g *Guard) Pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer.Stop()
}

// Stop ends the watch, and the context.
func (g *Guard) Stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	g.timer.Stop()
	g.cancel(nil)
}

// Err returns the [*Error] for which the transfer was ended; nil if it was not.
func (g *Guard) Err() error {
	if e, ok := errors.AsType[*Error](context.Cause(g.ctx)); ok {
		return e
	}
	return nil
}
