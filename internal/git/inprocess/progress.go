package inprocess

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// saysNotOurs reports whether a message of a server says that the repository does not have the
// wanted commit.
func saysNotOurs(message string) bool { return strings.Contains(message, "not our ref") }

// saysNoFilter reports whether a message of a server says that it refuses a filter.
func saysNoFilter(message string) bool { return strings.Contains(message, "filter") }

// progressInterval is the minimum interval between two reports of progress.
const progressInterval = 100 * time.Millisecond

// throttled returns a function that calls report at most once in an interval. It returns nil if
// report is nil.
func throttled(report func(done int64)) func(done int64) {
	if report == nil {
		return nil
	}
	last := time.Now()
	return func(done int64) {
		if now := time.Now(); now.Sub(last) >= progressInterval {
			last = now
			report(done)
		}
	}
}

// lockedBuffer keeps the beginning of what a server writes to its standard error.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p[:min(len(p), max(0, 4*maxShown-b.text.Len()))])
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
