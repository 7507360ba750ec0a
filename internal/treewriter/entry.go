package treewriter

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/cotterpin/cotter/internal/pathsafe"
)

// CheckName returns a *[PathError] if a tree must not hold an entry of this name,
// a path with slashes; see [pathsafe.Name].
func CheckName(name string) error {
	if reason := pathsafe.Name(name); reason != "" {
		return &PathError{Path: name, Reason: "the name " + reason}
	}
	return nil
}

// add registers a file or link and returns its directory, opened.
func (w *Writer) add(name string, k pathsafe.Kind) (*os.Root, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	parent, err := w.open(path.Dir(name))
	if err != nil {
		return nil, err
	}
	return parent, w.register(name, k)
}

// register enters a new name in the books.
func (w *Writer) register(name string, k pathsafe.Kind) error {
	switch w.kinds[name] {
	case pathsafe.File:
		return &PathError{Path: name, Reason: "there is a file of this name already"}
	case pathsafe.Directory:
		return &PathError{Path: name, Reason: "there is a directory of this name already"}
	case pathsafe.Link:
		return &PathError{Path: name, Reason: "there is a link of this name already"}
	}
	// The root is in kinds too, and does not count.
	if len(w.kinds)-1 == w.limits.Entries {
		return &LimitError{Path: name, What: "files, directories and links", Max: int64(w.limits.Entries)}
	}
	if err := w.checkPortable(name); err != nil {
		return err
	}
	w.kinds[name] = k
	return nil
}

// open returns a directory of the tree and makes it first if it is absent.
func (w *Writer) open(dir string) (*os.Root, error) {
	last := len(w.handles) - 1
	for !isWithin(dir, w.handles[last].name) {
		if err := w.handles[last].root.Close(); err != nil {
			return nil, err
		}
		w.handles = w.handles[:last]
		last--
	}
	for w.handles[last].name != dir {
		if err := w.descend(dir); err != nil {
			return nil, err
		}
		last++
	}
	return w.handles[last].root, nil
}

// descend opens the next directory on the way from the last handle to dir.
func (w *Writer) descend(dir string) error {
	parent := w.handles[len(w.handles)-1]
	rest := dir
	if parent.name != "." {
		rest = dir[len(parent.name)+1:]
	}
	component, _, _ := strings.Cut(rest, "/")
	name := path.Join(parent.name, component)
	if w.kinds[name] != pathsafe.Directory {
		if err := w.makeDir(parent.root, name, component); err != nil {
			return err
		}
	}
	root, err := parent.root.OpenRoot(component)
	if err != nil {
		return err
	}
	w.handles = append(w.handles, handle{name, root})
	return nil
}

func (w *Writer) makeDir(parent *os.Root, name, component string) error {
	if err := w.register(name, pathsafe.Directory); err != nil {
		return err
	}
	if err := parent.Mkdir(component, dirMode); err != nil {
		return w.taken(name, err)
	}
	return parent.Chmod(component, dirMode)
}

// taken explains that the file system holds a name that the books do not have.
func (w *Writer) taken(name string, err error) error {
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	reason := "something else has put a file of this name here"
	if other := w.folded[foldKey(name)]; other != name {
		reason = clashReason(other) + ", and this file system cannot hold both"
	}
	return &PathError{Path: name, Reason: reason}
}

func isWithin(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir) && name[len(dir)] == '/'
}

// write writes a file that is registered into its directory. It may be called
// for several files at a time.
func (w *Writer) write(parent *os.Root, name string, exec bool, r io.Reader, buf []byte) error {
	f, err := parent.OpenFile(path.Base(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return w.taken(name, err)
	}
	err = w.fill(f, name, r, buf)
	mode := fileMode
	if exec {
		mode = execMode
	}
	// The mode given to OpenFile was subject to the umask.
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// fill copies r into f up to the limits. When several files are filled at a time
// they may together be over the limit for all before the first one notices.
func (w *Writer) fill(f *os.File, name string, r io.Reader, buf []byte) error {
	room := min(w.limits.FileBytes, w.limits.TreeBytes-w.bytes.Load())
	var to io.Writer = struct{ io.Writer }{f} // so that io.CopyBuffer does not pass over the buffer
	if _, ok := r.(*os.File); ok {
		to = f // and the system copies, or shares the blocks where it can
	}
	n, err := io.CopyBuffer(to, io.LimitReader(r, room+1), buf)
	switch {
	case err != nil:
		return fmt.Errorf("%q: %w", name, err)
	case n <= room && w.bytes.Add(n) <= w.limits.TreeBytes:
		return nil
	case n > w.limits.FileBytes:
		return &LimitError{Path: name, What: "bytes in one file", Max: w.limits.FileBytes}
	}
	return &LimitError{Path: name, What: "bytes in all files", Max: w.limits.TreeBytes}
}
