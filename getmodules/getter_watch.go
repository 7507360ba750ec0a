package getmodules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const (
	// watchInterval is the minimum wait between two measurements.
	watchInterval = 100 * time.Millisecond
	// watchShare bounds the share of time spent on measuring, at 1/watchShare.
	watchShare = 10
	// downloadIdle is long because a server may have to pack a large repository first.
	downloadIdle = 2 * time.Minute
)

var errIdle = errors.New("the download stalled or is too slow")

// entryWorth is the progress, in bytes, for each file or directory: small files take more time than their
// size suggests.
const entryWorth = 1 << 10

// watch measures the files that a getter writes. It reports progress, and ends a download that is too large
// or stalls, because the clients of getters have no limits, or truncate silently.
type watch struct {
	dir, path string
	archive   bool
	download  int64 // limit of the bytes next to path, and of those in path if it is an archive
	tree      int64 // limit of the bytes in path if it is a directory
	entries   int   // limit of the entries in path
	disk      *packagelimits.Disk
	counted   int64 // for disk
	floor     httpx.Floor
	progress  func(done, total int64)
}

// written is what is next to the path of a download (temporary) and in it.
type written struct {
	temporary, bytes int64
	entries          int
}

func (w written) progress() int64 {
	return w.temporary + w.bytes + entryWorth*int64(w.entries)
}

func newWatch(ctx context.Context, f *Fetcher, req Request, from Download) *watch {
	tree := f.Limits.tree()
	return &watch{
		dir:      filepath.Dir(from.Path),
		path:     from.Path,
		archive:  from.Archive,
		download: f.Limits.download(),
		tree:     tree.TreeBytes,
		entries:  tree.Entries,
		disk:     packagelimits.DiskOf(ctx),
		floor:    f.floor(downloadIdle),
		progress: req.Progress,
	}
}

// start watches until the returned function is called, which returns the number of downloaded bytes, and an
// error if the download must be refused.
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

// follow measures until ctx is done, or until the download must be ended.
func (w *watch) follow(ctx context.Context) error {
	var before written
	windowStart, wait := time.Now(), watchInterval
	meter := httpx.Meter{Floor: w.floor}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		started := time.Now()
		now, err := w.measure()
		if err != nil {
			continue // files are being written; the last measurement decides
		}
		if err := w.check(now); err != nil {
			return err
		}
		if now != before {
			meter.Add(max(1, now.progress()-before.progress()))
			before = now
			w.report(now)
		}
		if started.Sub(windowStart) >= w.floor.Window {
			if err := meter.End(); err != nil {
				return fmt.Errorf("%w: %w", errIdle, err)
			}
			windowStart = started
		}
		wait = max(watchInterval, watchShare*time.Since(started))
	}
}

func (w *watch) report(now written) {
	if size := max(now.bytes, now.temporary); w.progress != nil && size > 0 {
		w.progress(size, 0)
	}
}

// check compares a measurement with the limits, except for those of single files and of names, and counts it for the run.
func (w *watch) check(now written) error {
	switch {
	case now.temporary > w.download, w.archive && now.bytes > w.download:
		return &LimitError{Limit: packagelimits.OfDownload, Max: w.download}
	case !w.archive && now.bytes > w.tree:
		return &LimitError{Limit: packagelimits.OfTree, Max: w.tree}
	case now.entries > w.entries:
		return &LimitError{Limit: packagelimits.OfEntries, Max: int64(w.entries)}
	}
	return w.disk.Grown(&w.counted, now.temporary+now.bytes)
}

// measure ignores files that vanish meanwhile: they are temporary.
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
