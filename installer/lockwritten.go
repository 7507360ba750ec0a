package installer

import (
	"context"

	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/git/worktree"
)

// lockWritten asks git about a lock while the caller writes it. The function that it returns reports that it is written.
func lockWritten(ctx context.Context, p Project, events *events, created bool) (report func()) {
	written := event.LockFileWritten{File: p.lockFile(), Created: created}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		if events.fn == nil {
			return
		}
		// After an error, it is not known.
		if rule, err := worktree.IgnoredLock(ctx, p.dir(), p.lockFile()); err == nil && rule != nil {
			written.IgnoredBy, written.IgnoredLine = rule.File, rule.Line
		}
	}()
	return func() {
		<-asked
		events.emit(written)
	}
}
