package providers

import (
	"cmp"
	"context"
	"runtime"
	"sync"
)

// Slots limits the concurrent work of Getters. All Getters of a program can share one Slots. The
// zero value has the default limits. A Slots must not be copied.
type Slots struct {
	// Transfers limits concurrent downloads; 0 means 16. Unpackings limits the archives that are
	// unpacked or hashed at once; 0 means one per processor.
	Transfers, Unpackings int

	once       sync.Once
	transfers  chan struct{}
	unpackings chan struct{}
}

// defaultTransfers is the default value of Slots.Transfers.
const defaultTransfers = 16

type slotKind int

const (
	transfer slotKind = iota
	unpacking
)

// wait waits for a free slot. The caller must call done to free it.
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
