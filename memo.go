package cotter

import "sync"

// memo computes a value once for each key, whoever asks first; the others wait
// for it. Failures are kept as well: what failed once in a run would fail again
// and be reported twice.
type memo[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]func() (V, error)
}

func (m *memo[K, V]) get(key K, compute func() (V, error)) (V, error) {
	m.mu.Lock()
	if m.values == nil {
		m.values = make(map[K]func() (V, error))
	}
	value, ok := m.values[key]
	if !ok {
		value = sync.OnceValues(compute)
		m.values[key] = value
	}
	m.mu.Unlock()
	return value()
}
