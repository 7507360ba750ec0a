package testenv

import (
	"os"
	"sync"
)

// Swap is another process that replaces what is at a path by a symbolic link to target, and puts it back, again and again
// until stop is called.
func Swap(path, target string) (stop func()) {
	end := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		away := path + ".away"
		for {
			select {
			case <-end:
				return
			default:
			}
			if os.Rename(path, away) != nil {
				continue
			}
			_ = os.Symlink(target, path)
			_ = os.Remove(path)
			_ = os.Rename(away, path)
			_ = os.RemoveAll(away)
		}
	})
	return func() { close(end); work.Wait() }
}
