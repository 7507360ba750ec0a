package objects

import (
	"context"
	"iter"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"
)

// atOnce is the number of concurrent downloads. A module is many small files, for which latency
// matters more than bandwidth. More concurrent downloads would only make servers throttle the
// client.
const atOnce = 8

// Download is the download of a directory.
type Download struct {
	// Dir is the directory to write. It must not exist, but its parent must. It is created when
	// the first object is downloaded.
	Dir string
	// Prefix is the name of the directory in the bucket. It is empty or ends in a slash.
	Prefix string
	// Keys yields the names of the objects that begin with Prefix, as the server lists them. An
	// error ends the download.
	Keys iter.Seq2[string, error]
	// Get writes the object with this name to a new, empty file. Several goroutines call it at
	// once, and it must return when ctx is done.
	Get func(ctx context.Context, key string, file *os.File) error
}

// Run downloads the objects and returns their number. It skips names that end in a slash, which
// represent directories. Names that point out of the directory are errors, and so are two names
// that would become the same file.
func (d Download) Run(ctx context.Context) (int, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(1 + atOnce)
	t := &tree{dir: d.Dir, prefix: d.Prefix}
	defer t.close()
	count := 0
	group.Go(func() error {
		for key, err := range d.Keys {
			if err != nil {
				return err
			}
			if strings.HasSuffix(key, "/") {
				continue
			}
			name, err := t.place(key)
			if err != nil {
				return err
			}
			count++
			// Go waits until a download may start, so that only one page of the listing is in
			// memory.
			group.Go(func() error {
				return t.write(name, func(file *os.File) error { return d.Get(ctx, key, file) })
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	err := group.Wait()
	return count, err
}
