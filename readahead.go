package cotter

import (
	"sync"
	"sync/atomic"
)

// readAhead hashes the whole packages of a project while its lock and its
// configuration are parsed, which keeps one processor busy. Nearly always the
// calls lead to them.
type readAhead struct {
	stopped atomic.Bool
	worker  sync.WaitGroup
}

func (in *installation) startReading() {
	in.ahead.worker.Go(func() {
		for _, name := range in.work.Trees() {
			if in.ahead.stopped.Load() {
				return
			}
			_, _ = in.whole(name) // whoever needs it gets the error
		}
	})
}

// stopReading waits for the package at hand. Nobody may take packages away
// before.
func (in *installation) stopReading() {
	in.ahead.stopped.Store(true)
	in.ahead.worker.Wait()
}
