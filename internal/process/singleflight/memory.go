package singleflight

import (
	"context"
	"sync"
)

// Memory keeps what clients remember during a run, so that clients which live longer ask again in
// the next one. The zero value is ready for use. It must not be copied.
type Memory struct {
	places sync.Map // from a place of the type *T to the one that replaces it, of the same type

	mu     sync.Mutex
	ends   []func()
	closed bool
}

// Close ends what clients keep open during the run. The requests of the run must have ended. If m is
// nil, it does nothing.
func (m *Memory) Close() {
	if m == nil {
		return
	}
	m.mu.Lock()
	ends := m.ends
	m.ends, m.closed = nil, true
	m.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

// OnClose lets [Memory.Close] of the context's memory call end. It reports whether that will happen:
// it returns false if the context has no Memory, or one that was closed.
func OnClose(ctx context.Context, end func()) bool {
	m, ok := ctx.Value(memoryKey{}).(*Memory)
	if !ok {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.ends = append(m.ends, end)
	return true
}

type memoryKey struct{}

// In returns a context in which [For] uses the memory. If m is nil, it returns ctx.
func (m *Memory) In(ctx context.Context) context.Context {
	if m == nil {
		return ctx
	}
	return context.WithValue(ctx, memoryKey{}, m)
}

// For returns the place, such as a [Group] or a [Memo], that replaces own in the context's
// [Memory]. It is a zero value at first. If the context has no Memory, For returns own.
func For[T any](ctx context.Context, own *T) *T {
	m, ok := ctx.Value(memoryKey{}).(*Memory)
	if !ok {
		return own
	}
	found, ok := m.places.Load(own)
	if !ok {
		found, _ = m.places.LoadOrStore(own, new(T))
	}
	return found.(*T)
}
