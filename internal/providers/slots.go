package providers

import (
	"context"
	"runtime"
	"sync"
)

// Slots limits the concurrent work of Getters. It must not be copied.
type Slots struct {
	once  sync.Once
	slots [2]chan struct{} // by kind
}

// transfers are concurrent downloads. One archive per processor is unpacked or hashed.
const transfers = 16

type slotKind int

const (
	transfer slotKind = iota
	unpacking
)

func (s *Slots) wait(ctx context.Context, kind slotKind) (done func(), err error) {
	s.once.Do(func() {
		s.slots = [2]chan struct{}{transfer: make(chan struct{}, transfers), unpacking: make(chan struct{}, runtime.GOMAXPROCS(0))}
	})
	select {
	case s.slots[kind] <- struct{}{}:
		return func() { <-s.slots[kind] }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
