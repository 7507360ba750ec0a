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

	"github.com/cotterpin/cotter/internal/pathsafe"
)

// CopyTree copies src to dst, which must not exist and does not exist after an error. A link that a
// [Writer] would leave out is an error.
func CopyTree(ctx context.Context, dst string, src fs.FS, limits Limits) error {
	w, err := Create(ctx, dst, limits)
	if err != nil {
		return err
	}
	return w.copyTree(ctx, src)
}

// CopyTreeIn is [CopyTree] to a new directory in an open one.
func CopyTreeIn(ctx context.Context, parent *os.Root, name string, src fs.FS, limits Limits) error {
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
	list, err := fs.ReadDir(c.src, dir)
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
		for _, name := range names {
			if err := c.register(name, pathsafe.File); err != nil {
				return err
			}
		}
		from, closeDir, err := c.source(dir)
		if err != nil {
			return err
		}
		defer closeDir()
		return each(names, func(name string) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return c.file(parent, name, from)
		})
	})
}

// source returns a function that opens the files of a directory. A directory on disk is opened once, because
// looking it up again for each file takes longer than copying a small one.
func (c *copier) source(dir string) (open func(name string) (fs.File, error), closeDir func(), err error) {
	disk, ok := c.src.(interface {
		OpenRoot(name string) (pathsafe.RootFS, error)
	})
	if !ok {
		return c.src.Open, func() {}, nil
	}
	from, err := disk.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	return func(name string) (fs.File, error) { return from.Open(path.Base(name)) }, func() { _ = from.Close() }, nil
}

func (c *copier) file(parent *os.Root, name string, open func(name string) (fs.File, error)) error {
	f, err := open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// The name may belong to another file by now.
	if !info.Mode().IsRegular() {
		return &PathError{Path: name, Reason: "it changed while it was copied"}
	}
	return c.write(parent, name, info.Mode()&0o100 != 0, f, nil) // the system needs no buffer
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
