package treewriter

import (
	"context"
	"fmt"
	"io/fs"
	"path"
)

// CopyOptions says how a tree is copied; the zero value copies all of it
// within the default limits.
type CopyOptions struct {
	Limits Limits
	// SkipWorkData leaves out, at any depth, what version control (.git, .hg,
	// .svn, .bzr) and the tools themselves (.terraform) keep in directories
	// that people work in. Without it, the former are refused.
	SkipWorkData bool
}

// CopyTree writes a copy of src to dst, which must not exist. On error nothing
// is left there.
func CopyTree(ctx context.Context, dst string, src fs.FS, opts CopyOptions) error {
	w, err := Create(dst, opts.Limits)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.CopyFS(ctx, src, opts.SkipWorkData); err != nil {
		return err
	}
	return w.Close()
}

// CopyFS adds everything in src, whose links are read by fs.ReadLink and never
// followed. skipWorkData is as in [CopyOptions].
func (w *Writer) CopyFS(ctx context.Context, src fs.FS, skipWorkData bool) error {
	return fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case skipWorkData && isWorkData(name, d):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return w.copyEntry(src, name, d)
	})
}

func isWorkData(name string, d fs.DirEntry) bool {
	base := path.Base(name)
	return IsVersionControl(base) || base == ".terraform" && d.IsDir()
}

func (w *Writer) copyEntry(src fs.FS, name string, d fs.DirEntry) error {
	switch d.Type() {
	case fs.ModeDir:
		return w.Dir(name)
	case fs.ModeSymlink:
		target, err := fs.ReadLink(src, name)
		if err != nil {
			return err
		}
		return w.Symlink(name, target)
	case 0:
		return w.copyFile(src, name)
	}
	return &PathError{Path: name, Reason: fmt.Sprintf("a %s is not a file, directory or link", d.Type())}
}

func (w *Writer) copyFile(src fs.FS, name string) error {
	f, err := src.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// Again, as the name may be something else by now.
	if !info.Mode().IsRegular() {
		return &PathError{Path: name, Reason: "it changed while it was copied"}
	}
	return w.File(name, info.Mode()&0o100 != 0, f)
}
