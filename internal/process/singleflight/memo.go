package singleflight

import "context"

// Memo is like [Group], but also keeps failures: work that has failed once would fail again in
// the same way, take as long, and be reported twice. The zero value is ready for use.
type Memo[K comparable, V any] struct {
	group Group[K, outcome[V]]
}

type outcome[V any] struct {
	value V
	err   error
}

// Do is like [Group.Do]. It does not keep a result if the context of work has ended.
func (m *Memo[K, V]) Do(ctx context.Context, key K, work func(context.Context) (V, error)) (V, error) {
	o, err := m.group.Do(ctx, key, func(ctx context.Context) (outcome[V], error) {
		value, err := work(ctx)
		return outcome[V]{value, err}, ctx.Err()
	})
	if err != nil {
		return o.value, err
	}
	return o.value, o.err
}

func (m *Memo[K, V]) Known(key K) (value V, ok bool, err error) {
	o, ok := m.group.Known(key)
	return o.value, ok, o.err
}
