package cliconfig

import (
	"context"
	"sync"
)

// lazy keeps the content of files that are read when the content is first needed. It also
// keeps errors.
type lazy[V any] struct {
	mu sync.Mutex
	// result is a function because the content contains secrets, and package fmt does not
	// call functions.
	result func() (V, error)
}

// get returns the result of read, or of an earlier read. It does not keep the result if the
// context has ended.
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
