package treewriter

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// CopyTree copies src to a new directory in parent, which does not exist after an error. A link that a [Writer] would leave
// out is an error. The result is as of [Writer.Tree].
func CopyTree(ctx context.Context, parent *os.Root, name string, src fs.FS, limits Limits) (*hashing.Tree, error) {
	w, err := CreateIn(ctx, parent, name, limits)
	if err != nil {
		return nil, err
	}
	w.Sum()
	if err := w.copyTree(ctx, src); err != nil {
		return nil, err
	}
	return w.Tree()
}

// CopyUnhashed is CopyTree without a result, for packages that are hashed by other rules.
func CopyUnhashed(ctx context.Context, parent *os.Root, name string, src fs.FS, limits Limits) error {
	w, err := CreateIn(ctx, parent, name, limits)
	if err != nil {
		return err
	}
	return w.copyTree(ctx, src)
}

func (w *Writer) copyTree(ctx context.Context, src fs.FS) error {
	defer w.Abort()
	w.allLinks = true
	if err := w.CopyFS(ctx, src); err != nil {
		return err
	}
	return w.Close()
}

// CopyFS adds everything in src, which must be safe for concurrent use. Links are never followed. Version
// control data (.git, .hg, .svn, .bzr) is refused.
func (w *Writer) CopyFS(ctx context.Context, src fs.FS) error {
	c := copier{Writer: w, src: src}
	return c.dir(ctx, ".")
}

type copier struct {
	*Writer
	src fs.FS
}

func (c *copier) dir(ctx context.Context, dir string) error {
	list, err := c.list(ctx, dir)
	if err != nil {
		return err
	}
	var files, subdirs []string
	for _, d := range list {
		name := path.Join(dir, d.Name())
		switch d.Type() {
		case 0:
			files = append(files, name)
		case fs.ModeDir:
			subdirs = append(subdirs, name)
		case fs.ModeSymlink:
			target, err := fs.ReadLink(c.src, name)
			if err == nil {
				err = c.Symlink(name, target)
			}
			if err != nil {
				return err
			}
		default:
			return &PathError{Path: name, Reason: fmt.Sprintf("a %s is not a file, directory or link", d.Type())}
		}
	}
	if err := c.files(ctx, dir, files); err != nil {
		return err
	}
	for _, name := range subdirs {
		if err := c.Dir(name); err != nil {
			return err
		}
		if err := c.dir(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// list returns the entries sorted by name, without what Info would say.
func (c *copier) list(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	disk, ok := c.src.(interface {
		List(name string, more func(int) error) ([]fs.DirEntry, error)
	})
	if !ok {
		return fs.ReadDir(c.src, dir)
	}
	return disk.List(dir, func(int) error { return ctx.Err() })
}

func (c *copier) files(ctx context.Context, dir string, names []string) error {
	return c.do(func() error {
		if err := ctx.Err(); err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := CheckName(name); err != nil {
				return err
			}
		}
		parent, err := c.open(dir)
		if err != nil {
			return err
		}
		files, err := parent.open()
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := c.register(name, pathsafe.File); err != nil {
				return err
			}
		}
		copyFile, closeDir, err := c.source(dir, files)
		if err != nil {
			return err
		}
		defer closeDir()
		return each(names, func(name string) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return copyFile(name)
		})
	})
}

// source returns a function that copies a file of a directory. A directory on disk is opened once, because looking it up
// again for each file takes longer than copying a small one.
func (c *copier) source(dir string, to *pathsafe.DirFiles) (copyFile func(name string) error, closeDir func(), err error) {
	disk, ok := c.src.(interface {
		OpenRoot(name string) (pathsafe.RootFS, error)
	})
	if !ok {
		return func(name string) error { return c.file(to, name) }, func() {}, nil
	}
	root, err := disk.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }()
	from, err := root.Files()
	if err != nil {
		return nil, nil, err
	}
	return func(name string) error { return c.fileOnDisk(to, name, from) }, func() { _ = from.Close() }, nil
}

// errChanged is for a name that belongs to another file by now.
func errChanged(name string) error {
	return &PathError{Path: name, Reason: "it changed while it was copied"}
}

func (c *copier) file(to *pathsafe.DirFiles, name string) error {
	f, err := c.src.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errChanged(name)
	}
	return c.write(to, name, info.Mode()&0o100 != 0, content{Reader: f})
}

func (c *copier) fileOnDisk(to *pathsafe.DirFiles, name string, from *pathsafe.DirFiles) error {
	f, err := from.Open(path.Base(name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	state, err := f.Stat()
	if err != nil {
		return err
	}
	if !state.Mode.IsRegular() {
		return errChanged(name)
	}
	return c.write(to, name, state.Mode&0o100 != 0, content{&pathsafe.SizedReader{File: f, Left: state.Size}, f, state.Size})
}

func each(names []string, do func(name string) error) error {
	const enough = 4 // names that are worth another goroutine
	errs := make([]error, len(names))
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= len(names) {
				return
			}
			if errs[i] = do(names[i]); errs[i] != nil {
				failed.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(names)/enough) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return cmp.Or(errs...)
}
