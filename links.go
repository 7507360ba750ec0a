package cotter

import (
	"os"
	"runtime"
	"sync"
)

// links makes symbolic links. Those with one target are one link with many
// names, where the system has that: a hundred calls of one package have ten
// thousand links between them, each of which would take an inode of its own.
// A link cannot be written to, so there is nothing that could leak from one call
// to another.
type links struct {
	made sync.Map // from a target to the path of a link with it
}

func (l *links) add(target, path string) error {
	// Elsewhere than on Linux a name for a link may become one for its target.
	if first, ok := l.made.Load(target); ok && runtime.GOOS == "linux" && os.Link(first.(string), path) == nil {
		return nil
	}
	if err := os.Symlink(target, path); err != nil {
		return err
	}
	l.made.Store(target, path)
	return nil
}
