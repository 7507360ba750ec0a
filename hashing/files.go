package hashing

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/cotterpin/cotter/internal/ctxerr"
	"github.com/cotterpin/cotter/internal/pathsafe"
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

// target returns the target of a link, which ReadDir may have read already.
func (d directory) target(link fs.DirEntry) (string, error) {
	if known, ok := link.(linkEntry); ok {
		return known.target, nil
	}
	return fs.ReadLink(d.fsys, path.Join(d.path, link.Name()))
}

// opener opens files. Consecutive files of the same directory share the open directory.
type opener struct {
	top  directory
	last directory
	path string // path of last
}

func newOpener(fsys fs.FS) *opener {
	return &opener{top: top(fsys), last: top(fsys), path: "."}
}

func (o *opener) open(name string) (fs.File, error) {
	if dir := path.Dir(name); dir != o.path {
		next, err := o.top.open(dir)
		if err != nil {
			return nil, err
		}
		o.close()
		o.last, o.path = next, dir
	}
	return o.last.file(path.Base(name))
}

func (o *opener) close() { o.last.close() }

// RootFS returns a file system for a directory on disk that, like [os.Root.FS], does not leave it. It also opens
// names that are not valid UTF-8. [ReadTree] reads it faster, because it opens each directory once instead of
// once per file.
func RootFS(root *os.Root) fs.FS { return rootFS{pathsafe.FS(root)} }

type rootFS struct{ pathsafe.RootFS }

func (r rootFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return r.readDir(context.Background(), name)
}

// readDir tries first whether the name after a link is a link, which needs no other system call:
// directories with links usually have only links.
func (r rootFS) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	names, err := r.names(name)
	if err != nil {
		return nil, err
	}
	list := make([]fs.DirEntry, 0, len(names))
	afterLink := false
	for _, base := range names {
		if err := ctxerr.Of(ctx); err != nil {
			return nil, err
		}
		at := path.Join(name, base)
		if afterLink {
			if target, err := r.ReadLink(at); err == nil {
				list = append(list, linkEntry{r, at, target})
				continue
			}
		}
		info, err := r.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was removed in the meantime
		}
		if err != nil {
			return nil, err
		}
		afterLink = info.Mode().Type() == fs.ModeSymlink
		list = append(list, fs.FileInfoToDirEntry(info))
	}
	return list, nil
}

// names returns the sorted names in a directory. More than a tree may have entries are an error.
func (r rootFS) names(name string) ([]string, error) {
	dir, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.(*os.File).Readdirnames(maxEntries + 1)
	switch {
	case errors.Is(err, io.EOF): // the directory is empty
		err = nil
	case len(names) > maxEntries:
		err = tooMany(maxEntries)
	}
	slices.Sort(names)
	return names, err
}

func (r rootFS) open(dir string) (rootFS, error) {
	opened, err := r.OpenRoot(dir)
	return rootFS{opened}, err
}

type linkEntry struct {
	fsys   rootFS
	path   string
	target string
}

func (e linkEntry) Name() string               { return path.Base(e.path) }
func (e linkEntry) IsDir() bool                { return false }
func (e linkEntry) Type() fs.FileMode          { return fs.ModeSymlink }
func (e linkEntry) Info() (fs.FileInfo, error) { return e.fsys.Lstat(e.path) }
func (e linkEntry) String() string             { return fs.FormatDirEntry(e) }
