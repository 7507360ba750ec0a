package treewriter

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"

	"github.com/cotterpin/cotter/internal/pathsafe"
)

const (
	fileMode fs.FileMode = 0o644
	execMode fs.FileMode = 0o755
	dirMode  fs.FileMode = 0o755
)

// Writer writes one package tree into a new directory. Its first error is
// final: all later calls return it. It is not safe for concurrent use.
type Writer struct {
	dir    string
	limits Limits
	// handles are the open directories from the root to the one that was used
	// last. Entries that come in order cost one system call each.
	handles []handle
	// kinds has every entry, folded the first entry of each foldKey.
	kinds   map[string]pathsafe.Kind
	folded  map[string]string
	targets map[string]string // of links
	// leftOut are the links that are not part of the tree; with allLinks, they
	// are errors instead.
	leftOut  []Link
	allLinks bool
	bytes    atomic.Int64
	buf      []byte
	err      error
	done     bool // Close was successful

	unportable int
	example    string
}

type handle struct {
	name string // "." for the root
	root *os.Root
}

// Create makes dir, which must not exist, and returns a writer into it.
func Create(dir string, limits Limits) (*Writer, error) {
	if err := os.Mkdir(dir, dirMode); err != nil {
		return nil, err
	}
	w := &Writer{
		dir:     dir,
		limits:  limits.withDefaults(),
		kinds:   map[string]pathsafe.Kind{".": pathsafe.Directory},
		folded:  map[string]string{},
		targets: map[string]string{},
		buf:     make([]byte, 64<<10),
	}
	err := os.Chmod(dir, dirMode)
	root, openErr := os.OpenRoot(dir)
	if err = errors.Join(err, openErr); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	w.handles = []handle{{".", root}}
	return w, nil
}

// Dir adds a directory; parents are made as needed by every method. A
// directory that is there already is no error.
func (w *Writer) Dir(name string) error {
	return w.do(func() error {
		if err := CheckName(name); err != nil {
			return err
		}
		_, err := w.open(name)
		return err
	})
}

// File adds a regular file with the bytes of r, which it reads to the end.
func (w *Writer) File(name string, exec bool, r io.Reader) error {
	return w.do(func() error {
		parent, err := w.add(name, pathsafe.File)
		if err != nil {
			return err
		}
		return w.write(parent, name, exec, r, w.buf)
	})
}

// Symlink notes a link; it is checked, and made or left out, by Close. The target
// is kept as it is written.
func (w *Writer) Symlink(name, target string) error {
	return w.do(func() error {
		if _, err := w.add(name, pathsafe.Link); err != nil {
			return err
		}
		if len(w.targets) == maxLinks {
			return &LimitError{Path: name, What: "symbolic links", Max: maxLinks}
		}
		w.targets[name] = target
		return nil
	})
}

// Close checks the tree as a whole, makes the links that stay inside, and releases
// the directory. On error the tree must not be used.
func (w *Writer) Close() error {
	err := w.do(w.makeLinks)
	err = errors.Join(err, w.release())
	w.done = err == nil
	if w.err == nil {
		w.err = errClosed
	}
	return err
}

// Empty reports whether the tree holds neither files nor links, after Close.
func (w *Writer) Empty() bool {
	for _, k := range w.kinds {
		if k == pathsafe.File {
			return false
		}
	}
	return len(w.targets) == len(w.leftOut)
}

// Abort removes what was written, unless Close was successful before. It is
// harmless at any time, so that it can be deferred.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.err = errClosed
	_ = w.release()
	_ = os.RemoveAll(w.dir)
}

func (w *Writer) release() error {
	var err error
	for _, h := range slices.Backward(w.handles) {
		err = errors.Join(err, h.root.Close())
	}
	w.handles = nil
	return err
}

var errClosed = errors.New("the tree is closed")

func (w *Writer) do(step func() error) error {
	if w.err == nil {
		w.err = step()
	}
	return w.err
}
