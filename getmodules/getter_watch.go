package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/minrate"
	"github.com/cotterpin/cotter/internal/treewriter"
)

const (
	// watchEvery is how often the size of a download is looked at, at most.
	watchEvery = 100 * time.Millisecond
	// watchShare bounds the time that looking takes to one part in so many.
	watchShare = 10
	// downloadIdle is how long a download may bring nothing: servers may have
	// to pack a large repository first.
	downloadIdle = 2 * time.Minute
)

var errIdle = errors.New("nothing came any more, or too little")

// entryWorth is what a file or directory counts as progress, in bytes: small ones
// take longer than their size.
const entryWorth = 1 << 10

// watch follows what a getter writes, to report it and to end a download that
// brings too much or nothing: those who download for us have no limits, or cut
// off what is over them.
type watch struct {
	dir, path string
	archive   bool
	download  int64 // bytes beside path, or in it if that is an archive
	tree      int64 // bytes in path if that is a directory
	entries   int   // in path
	floor     minrate.Floor
	progress  func(done, total int64)
}

// written is how much there is of a download.
type written struct {
	temporary, bytes int64
	entries          int
}

func (w written) progress() int64 {
	return w.temporary + w.bytes + entryWorth*int64(w.entries)
}

func newWatch(f *Fetcher, req Request, from Download) *watch {
	tree := f.Limits.tree()
	return &watch{
		dir:      filepath.Dir(from.Path),
		path:     from.Path,
		archive:  from.Archive,
		download: f.Limits.download(),
		tree:     cmp.Or(tree.TreeBytes, treewriter.DefaultTreeBytes),
		entries:  cmp.Or(tree.Entries, treewriter.DefaultEntries),
		floor:    f.floor(downloadIdle),
		progress: req.Progress,
	}
}

// start watches until the function that it returns is called, which says how
// many bytes came and why they were refused, if they were.
func (w *watch) start(ctx context.Context) (context.Context, func() (int64, error)) {
	ctx, cancel := context.WithCancelCause(ctx)
	var refused error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if refused = w.follow(ctx); refused != nil {
			cancel(refused)
		}
	}()
	return ctx, func() (int64, error) {
		cancel(nil)
		<-done
		last, err := w.measure()
		w.report(last)
		if refused == nil {
			refused = errors.Join(err, w.check(last))
		}
		return max(last.bytes, last.temporary), refused
	}
}

// follow looks at a download again and again, until ctx is done or there is a
// reason to end it.
func (w *watch) follow(ctx context.Context) error {
	var before written
	began, wait := time.Now(), watchEvery
	meter := minrate.Meter{Floor: w.floor}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		started := time.Now()
		now, err := w.measure()
		if err != nil {
			continue // it is being written; the last look counts
		}
		if err := w.check(now); err != nil {
			return err
		}
		if now != before {
			meter.Add(max(1, now.progress()-before.progress()))
			before = now
			w.report(now)
		}
		if started.Sub(began) >= w.floor.Window {
			if err := meter.End(); err != nil {
				return fmt.Errorf("%w: %w", errIdle, err)
			}
			began = started
		}
		wait = max(watchEvery, watchShare*time.Since(started))
	}
}

func (w *watch) report(now written) {
	if size := max(now.bytes, now.temporary); w.progress != nil && size > 0 {
		w.progress(size, 0)
	}
}

// check compares what there is with the limits. Those of single files and of
// names are for the package that is made of it.
func (w *watch) check(now written) error {
	switch {
	case now.temporary > w.download, w.archive && now.bytes > w.download:
		return fmt.Errorf("%w: the download has more than %d bytes", ErrTooLarge, w.download)
	case !w.archive && now.bytes > w.tree:
		return fmt.Errorf("%w: the directory has more than %d bytes", ErrTooLarge, w.tree)
	case now.entries > w.entries:
		return fmt.Errorf("%w: the directory has more than %d files and directories", ErrTooLarge, w.entries)
	}
	return nil
}

// measure adds up what is there. What vanishes meanwhile was temporary.
func (w *watch) measure() (written, error) {
	var sum written
	inside := false
	err := filepath.WalkDir(w.dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if filepath.Dir(name) == w.dir {
			inside = name == w.path
		}
		return sum.add(d, inside, name == w.path)
	})
	return sum, err
}

func (w *written) add(d fs.DirEntry, inside, top bool) error {
	if inside && !top {
		w.entries++
	}
	if !d.Type().IsRegular() {
		return nil
	}
	info, err := d.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case inside:
		w.bytes += info.Size()
	default:
		w.temporary += info.Size()
	}
	return nil
}
