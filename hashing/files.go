package hashing

import (
	"context"
	"io/fs"
	"os"
	"path"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

// directory is an open directory, or a path in a file system that cannot keep directories open.
type directory struct {
	fsys  fs.FS
	path  string // in fsys
	owned bool   // whether close must close fsys
}

func top(fsys fs.FS) directory { return directory{fsys: fsys, path: "."} }

func (d directory) open(name string) (directory, error) {
	r, ok := d.fsys.(rootFS)
	if !ok || name == "." {
		return directory{fsys: d.fsys, path: path.Join(d.path, name)}, nil
	}
	opened, err := r.open(name)
	return directory{fsys: opened, path: ".", owned: err == nil}, err
}

func (d directory) close() {
	if d.owned {
		_ = d.fsys.(rootFS).Close()
	}
}

func (d directory) list(ctx context.Context) ([]fs.DirEntry, error) {
	if r, ok := d.fsys.(rootFS); ok {
		return r.readDir(ctx, d.path)
	}
	return fs.ReadDir(d.fsys, d.path)
}

func (d directory) file(name string) (fs.File, error) { return d.fsys.Open(path.Join(d.path, name)) }

func (d directory) target(link fs.DirEntry) (string, error) {
	return fs.ReadLink(d.fsys, path.Join(d.path, link.Name()))
}

// opener opens files. Consecutive files of the same directory share the open directory.
type opener struct {
	top   directory
	last  directory
	path  string             // path of last, or "" if nothing was opened
	files *pathsafe.DirFiles // of last if it is a directory on disk
}

func newOpener(fsys fs.FS) *opener { return &opener{top: top(fsys)} }

// enter opens the directory of a file, and returns the name of the file in it.
func (o *opener) enter(name string) (base string, err error) {
	dir := path.Dir(name)
	if dir == o.path {
		return path.Base(name), nil
	}
	o.close()
	if o.last, err = o.top.open(dir); err != nil {
		return "", err
	}
	o.path = dir
	if r, ok := o.last.fsys.(rootFS); ok {
		o.files, err = r.Files()
	}
	return path.Base(name), err
}

func (o *opener) close() {
	if o.files != nil {
		_ = o.files.Close()
		o.files = nil
	}
	if o.path != "" {
		o.last.close()
		o.path = ""
	}
}

// RootFS returns a file system for a directory on disk that, like [os.Root.FS], does not leave it. It also opens
// names that are not valid UTF-8. [ReadTree] reads it faster, because it opens each directory once instead of
// once per file.
func RootFS(root *os.Root) fs.FS { return rootFS{pathsafe.FS(root)} }

type rootFS struct{ pathsafe.RootFS }

// readDir returns the entries sorted by name, without what Info would say. More than a tree may have are an error.
func (r rootFS) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	return r.List(name, func(n int) error {
		if n > maxEntries {
			return tooMany(maxEntries)
		}
		return ctxerr.Of(ctx)
	})
}

func (r rootFS) open(dir string) (rootFS, error) {
	opened, err := r.OpenRoot(dir)
	return rootFS{opened}, err
}
