// Package objects is what the getters for object stores have in common. It downloads an object, or
// all objects of a bucket whose names have a common prefix into a directory: object stores have no
// directories of their own. It also has their limits, and the meaning of their servers' answers.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/getmodules"
)

// Bucket lists and downloads objects.
type Bucket interface {
	// List yields the names of the objects that begin with a prefix, as the server lists them.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Get writes an object to a new, empty file. Several goroutines call it at once, and it must
	// return when ctx is done.
	Get(ctx context.Context, key string, file *os.File) error
}

var errNone = errors.New("no object's name begins with the path of the address and a slash; the address of an archive ends in .zip, .tar.gz or .tar.bz2, or has an archive argument")

// MaxList is the maximum size of an answer that lists objects, in bytes, for all getters. A page of a
// list has up to 1000 names of up to 1024 bytes, which may be six times as long when they are escaped,
// and some facts about each object.
const MaxList = 16 << 20

// Explain wraps [fs.ErrNotExist] or [fs.ErrPermission] around an error if that is what the HTTP
// status of the server's answer means. It returns other errors unchanged.
func Explain(err error, status int) error {
	switch status {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return err
}

// Fetch downloads the object named key to the new file path if archive is set. Otherwise it downloads
// all objects in the directory key of the bucket to the directory path, which must not exist; its
// parent must. It skips names that end in a slash, which represent directories. Names that point out of
// the directory are errors, and so are two names that would become the same file. If there are no
// objects, the error wraps [getmodules.ErrEmpty].
func Fetch(ctx context.Context, b Bucket, key string, archive bool, path string) error {
	if archive {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(b.Get(ctx, key, file), file.Close())
	}
	if key != "" && !strings.HasSuffix(key, "/") {
		key += "/" // "net-2/x" is not in "net"
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(1 + atOnce)
	t := &tree{dir: path, prefix: key}
	defer t.close()
	group.Go(func() error {
		for key, err := range b.List(ctx, key) {
			if err != nil {
				return err
			}
			if strings.HasSuffix(key, "/") {
				continue
			}
			name, err := t.fileFor(key)
			if err != nil {
				return err
			}
			// Go waits until a download may start, so that only one page of the listing is in
			// memory.
			group.Go(func() error {
				return t.write(name, func(file *os.File) error { return b.Get(ctx, key, file) })
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if t.root == nil {
		return fmt.Errorf("%w: %w", getmodules.ErrEmpty, errNone)
	}
	return nil
}

// CheckURL checks the parts that all addresses of object stores have in common.
func CheckURL(u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return errors.New("the address needs https:// and a host after \"::\"")
	case u.User != nil:
		return errors.New("such an address cannot have a user name or a password")
	}
	return nil
}

// atOnce is the number of concurrent downloads. A module is many small files, for which latency
// matters more than bandwidth. More concurrent downloads would only make servers throttle the
// client.
const atOnce = 8

// tree is the directory in which the files are created. No object's name can cause a write
// outside of it.
type tree struct {
	dir, prefix string
	root        *os.Root // nil until the first file is created
}

func (t *tree) close() {
	if t.root != nil {
		t.root.Close()
	}
}

// fileFor returns the name of an object's file. It creates the top directory for the first file. It
// must not be called concurrently.
func (t *tree) fileFor(key string) (string, error) {
	name, err := fileName(t.prefix, key)
	if err != nil || t.root != nil {
		return name, err
	}
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		return "", err
	}
	t.root, err = os.OpenRoot(t.dir)
	return name, err
}

func fileName(prefix, key string) (string, error) {
	below, isBelow := strings.CutPrefix(key, prefix)
	if !isBelow {
		return "", fmt.Errorf("the server lists %q among the objects below %q", key, prefix)
	}
	// A name with leading slashes would be absolute.
	name := path.Clean(strings.TrimLeft(below, "/"))
	if !fs.ValidPath(name) || name == "." {
		return "", fmt.Errorf("the object %q would become a file outside the directory", key)
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return "", fmt.Errorf("the name of the object %q is not valid for a file on this system", key)
	}
	return local, nil
}

// write creates a file, which must not exist, and calls fill to write its content.
func (t *tree) write(name string, fill func(*os.File) error) error {
	if err := t.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("two objects would become one file: %w", err)
	}
	if err != nil {
		return err
	}
	return errors.Join(fill(file), file.Close())
}
