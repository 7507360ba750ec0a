package cliconfig

import (
	"context"
	"sync"

	"github.com/cotterpin/cotter/internal/singleflight"
)

// memo keeps the answers of helpers, failures included: a second attempt would
// fail in the same way and take as long.
type memo[K comparable, V any] struct {
	group singleflight.Group[K, outcome[V]]
}

type outcome[V any] struct {
	value V
	err   error
}

// do returns the result of ask, or of an earlier ask for the same key. A result
// is not kept if the context of ask ended.
func (m *memo[K, V]) do(ctx context.Context, key K, ask func(context.Context) (V, error)) (V, error) {
	o, err := m.group.Do(ctx, key, func(ctx context.Context) (outcome[V], error) {
		value, err := ask(ctx)
		return outcome[V]{value, err}, ctx.Err()
	})
	if err != nil {
		return o.value, err
	}
	return o.value, o.err
}

// lazy keeps the content of files that are read when it is first needed,
// failures included.
type lazy[V any] struct {
	mu sync.Mutex
	// result is a function because the content has secrets, and package fmt does
	// not call functions.
	result func() (V, error)
}

// get returns the result of read, or of an earlier read. A result is not kept if
// the context ended.
func (l *lazy[V]) get(ctx context.Context, read func(context.Context) (V, error)) (V, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.result != nil {
		return l.result()
	}
	value, err := read(ctx)
	if ctx.Err() == nil {
		l.result = func() (V, error) { return value, err }
	}
	return value, err
}
