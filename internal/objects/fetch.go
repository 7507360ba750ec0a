package objects

import (
	"context"
	"errors"
	"iter"
	"os"
)

// Bucket lists and downloads objects.
type Bucket interface {
	// List yields the names of the objects that begin with a prefix, as the server lists them.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Get writes an object to a new, empty file. Several goroutines call it at once, and it must
	// return when ctx is done.
	Get(ctx context.Context, key string, file *os.File) error
}

// ErrNone says that there are no objects in a directory.
var ErrNone = errors.New("no object's name begins with the path of the address and a slash; the address of an archive ends in .zip, .tar.gz or .tar.bz2, or has an archive argument")

// Fetch downloads an archive to a file, or a directory as [Download] does. If archive is set, it
// downloads the object named key to path. Otherwise it downloads all objects below key to the
// directory path.
func Fetch(ctx context.Context, b Bucket, key string, archive bool, path string) error {
	if archive {
		return File(path, func(file *os.File) error { return b.Get(ctx, key, file) })
	}
	prefix := Prefix(key)
	found, err := Download{Dir: path, Prefix: prefix, Keys: b.List(ctx, prefix), Get: b.Get}.Run(ctx)
	if err == nil && found == 0 {
		return ErrNone
	}
	return err
}
