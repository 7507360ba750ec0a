package objects

import (
	"context"
	"iter"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many objects are downloaded at a time. Modules are many small
// files, for which the way to the server and back counts more than its speed;
// more than a few would only make servers ask for patience.
const atOnce = 8

// Download is a directory to be made.
type Download struct {
	// Dir is where it goes. It must not exist; its parent must. It is made when
	// the first object is there to be downloaded.
	Dir string
	// Prefix is the directory's name in the bucket: "", or something with a
	// slash at its end.
	Prefix string
	// Keys are the names of the objects that begin with Prefix, as the server
	// lists them. An error ends the download.
	Keys iter.Seq2[string, error]
	// Get writes the object with this name to a file, which is new and empty.
	// It is called by several goroutines, and must end when ctx does.
	Get func(ctx context.Context, key string, file *os.File) error
}

// Run downloads the objects and returns how many there were. A name that ends
// in a slash stands for a directory, and is left out. Names that lead out of the
// directory are errors, and so are two of which the same file would be made.
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
			// This waits for one of the places, so that no more of the list is
			// kept than a page of it.
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
