package providers

import (
	"cmp"
	"context"
	"runtime"
	"sync"
)

// Slots bounds what Getters do at a time. Those of one program share one. The zero value
// has the defaults. It must not be copied.
type Slots struct {
	// Transfers bounds the archives that are transferred at a time; 0 means 16.
	// Unpackings bounds those that are unpacked; 0 means one for each processor.
	Transfers, Unpackings int

	once       sync.Once
	transfers  chan struct{}
	unpackings chan struct{}
}

// defaultTransfers is the default of Slots.Transfers.
const defaultTransfers = 16

type slotKind int

const (
	transfer slotKind = iota
	unpacking
)

// wait waits for room for one more, and returns the function that makes room again.
func (s *Slots) wait(ctx context.Context, kind slotKind) (done func(), err error) {
	s.once.Do(func() {
		s.transfers = make(chan struct{}, cmp.Or(max(s.Transfers, 0), defaultTransfers))
		s.unpackings = make(chan struct{}, cmp.Or(max(s.Unpackings, 0), runtime.GOMAXPROCS(0)))
	})
	slots := s.transfers
	if kind == unpacking {
		slots = s.unpackings
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
