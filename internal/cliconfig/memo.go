package cliconfig

import (
	"context"

	"github.com/cotterpin/cotter/internal/singleflight"
)

// memo keeps what helpers said, also where they failed: asked again, they would
// say the same, and perhaps take as long.
type memo[K comparable, V any] struct {
	group singleflight.Group[K, outcome[V]]
}

type outcome[V any] struct {
	value V
	err   error
}

// do is what ask says, or said before. Only the end of its context is forgotten.
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
