package singleflight

import (
	"context"
	"sync"
)

// Group keeps the values of all requested keys, so the number of keys must be bounded. The zero
// value is ready for use. It must not be copied.
type Group[K comparable, V any] struct {
	mu    sync.Mutex
	calls map[K]*call[V]
}

// call is one run of the work. value and err may be read after done was closed.
type call[V any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int // guarded by the group's mutex
	value   V
	err     error
}

// Do returns the value of key. If there is none yet, it runs work to get it. The context of work
// has the values of the first caller's context, and is canceled when the contexts of all callers
// have ended. If ctx ends before the work does, Do returns ctx.Err(): at once while others wait, and otherwise when the
// canceled work has ended, so that no work goes on after its callers. Any other error comes from
// work, and all waiting callers get it.
func (g *Group[K, V]) Do(ctx context.Context, key K, work func(context.Context) (V, error)) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	c := g.join(ctx, key, work)
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		if isLast := g.leave(key, c); isLast {
			<-c.done
		}
		return none, ctx.Err()
	}
}

func (g *Group[K, V]) join(ctx context.Context, key K, work func(context.Context) (V, error)) *call[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.calls[key]; ok {
		c.waiters++
		return c
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &call[V]{done: make(chan struct{}), cancel: cancel, waiters: 1}
	if g.calls == nil {
		g.calls = make(map[K]*call[V])
	}
	g.calls[key] = c
	go func() {
		defer cancel()
		c.value, c.err = work(ctx)
		g.finish(key, c)
	}()
	return c
}

// Known does not wait for work.
func (g *Group[K, V]) Known(key K) (value V, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.calls[key]
	if !ok {
		return value, false
	}
	select {
	case <-c.done:
		return c.value, true // failed work is forgotten
	default:
		return value, false
	}
}

// Set replaces the value of a key. Callers that wait for work get its result.
func (g *Group[K, V]) Set(key K, value V) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls == nil {
		g.calls = make(map[K]*call[V])
	}
	c := &call[V]{done: make(chan struct{}), cancel: func() {}, value: value}
	close(c.done)
	g.calls[key] = c
}

func (g *Group[K, V]) finish(key K, c *call[V]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.err != nil {
		g.forget(key, c)
	}
	close(c.done)
}

// leave cancels the work if its last caller leaves.
func (g *Group[K, V]) leave(key K, c *call[V]) (isLast bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.waiters--; c.waiters > 0 {
		return false
	}
	select {
	case <-c.done: // its value stays
	default:
		c.cancel()
		g.forget(key, c)
	}
	return true
}

func (g *Group[K, V]) forget(key K, c *call[V]) {
	if g.calls[key] == c {
		delete(g.calls, key)
	}
}
