package treewriter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

const (
	fileMode fs.FileMode = 0o644
	execMode fs.FileMode = 0o755
	dirMode  fs.FileMode = 0o755
)

// Writer writes one tree into a new directory. Its first error is final. It is not safe for concurrent use.
type Writer struct {
	dir    string // for its file system
	remove func() error
	limits Limits
	disk   *packagelimits.Disk
	// listed is the share in memory for the entries; own is that of limits without one.
	listed *packagelimits.Share
	own    packagelimits.Share
	ctx    context.Context // of Create
	// handles are the open directories from the root to the last used one: entries in the order of a tree
	// take one system call each.
	handles []*handle
	// kinds has every entry, folded the first one for each foldKey.
	kinds     map[string]pathsafe.Kind
	pathBytes int
	folded    map[string]string
	targets   map[string]string // of links
	// leftOut are the links that are not part of the tree. allLinks makes them errors.
	leftOut  []Link
	allLinks bool
	bytes    atomic.Int64
	// asCreated says that files get the mode with which they are created, so that they need not be changed: the umask and
	// the directory's access control list allow it.
	asCreated map[fs.FileMode]*atomic.Bool
	// sums says that there will be a [Writer.Tree], of which summed are the files.
	sums   bool
	summed struct {
		sync.Mutex
		files []hashing.Entry
		lost  bool // whether the file system has not kept a mode
	}
	err  error
	done bool // Close was successful

	// unusual counts the names for the warning; portable says that every system can store the example.
	unusual  int
	example  string
	portable bool
}

type handle struct {
	name  string // "." for the root
	root  *os.Root
	files *pathsafe.DirFiles // opened for the first file
}

func (h *handle) open() (*pathsafe.DirFiles, error) {
	var err error
	if h.files == nil {
		h.files, err = pathsafe.FS(h.root).Files()
	}
	return h.files, err
}

func (h *handle) close() error {
	var err error
	if h.files != nil {
		err = h.files.Close()
	}
	return errors.Join(err, h.root.Close())
}

// Create creates dir, which must not exist. What is written counts for the run of ctx; see [packagelimits.Disk]. A Writer of
// many entries waits for others until ctx is done; see [packagelimits.Share].
func Create(ctx context.Context, dir string, limits Limits) (*Writer, error) {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	w, err := CreateIn(ctx, parent, filepath.Base(dir), limits)
	if err != nil {
		return nil, err
	}
	w.dir, w.remove = dir, func() error { return os.RemoveAll(dir) }
	return w, nil
}

// CreateIn is [Create] in an open directory, which must stay open until the Writer is closed or aborted.
func CreateIn(ctx context.Context, parent *os.Root, name string, limits Limits) (*Writer, error) {
	if err := parent.Mkdir(name, dirMode); err != nil {
		return nil, err
	}
	w := &Writer{
		dir:       parent.Name(),
		remove:    func() error { return parent.RemoveAll(name) },
		limits:    limits.WithDefaults(),
		disk:      packagelimits.DiskOf(ctx),
		ctx:       ctx,
		kinds:     map[string]pathsafe.Kind{".": pathsafe.Directory},
		folded:    map[string]string{},
		targets:   map[string]string{},
		asCreated: map[fs.FileMode]*atomic.Bool{fileMode: {}, execMode: {}},
	}
	if w.listed = limits.Share; w.listed == nil {
		w.listed = &w.own
	}
	err := parent.Chmod(name, dirMode)
	root, openErr := parent.OpenRoot(name)
	if err = errors.Join(err, openErr); err != nil {
		return nil, errors.Join(err, parent.Remove(name))
	}
	w.handles = []*handle{{name: ".", root: root}}
	return w, nil
}

// Expect checks that there is space for files that together have at least this size, in bytes, before they are written.
func (w *Writer) Expect(bytes int64) error {
	return w.do(func() error { return w.disk.Expect(w.dir, bytes) })
}

// Dir adds a directory, which may exist. Every method creates missing parents.
func (w *Writer) Dir(name string) error {
	return w.do(func() error {
		if err := CheckName(name); err != nil {
			return err
		}
		_, err := w.open(name)
		return err
	})
}

// File reads r to the end.
func (w *Writer) File(name string, exec bool, r io.Reader) error {
	return w.do(func() error {
		parent, err := w.add(name, pathsafe.File)
		if err != nil {
			return err
		}
		files, err := parent.open()
		if err != nil {
			return err
		}
		return w.write(files, name, exec, content{Reader: r})
	})
}

// Open opens an earlier file of the tree, for a copy of it, and reports whether it is executable.
func (w *Writer) Open(name string) (f *os.File, exec bool, err error) {
	if w.err != nil {
		return nil, false, w.err
	}
	if w.kinds[name] != pathsafe.File {
		return nil, false, &PathError{Path: name, Reason: "it is not an earlier file"}
	}
	if f, err = w.handles[0].root.Open(name); err != nil {
		return nil, false, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, info.Mode()&0o100 != 0, nil
}

// Symlink records a link with an unchanged target, which Close creates or leaves out.
func (w *Writer) Symlink(name, target string) error {
	return w.do(func() error {
		if _, err := w.add(name, pathsafe.Link); err != nil {
			return err
		}
		if len(w.targets) == maxLinks {
			return &packagelimits.Error{Limit: packagelimits.OfLinks, Path: name, Max: maxLinks}
		}
		w.targets[name] = target
		return nil
	})
}

// Close checks the tree as a whole, and creates the links that stay inside. After an error the tree must
// not be used.
func (w *Writer) Close() error {
	err := w.do(w.makeLinks)
	err = errors.Join(err, w.release())
	w.done = err == nil
	if w.err == nil {
		w.err = errClosed
	}
	return err
}

// Sum makes the Writer hash what it writes, for Tree.
func (w *Writer) Sum() { w.sums = true }

// Tree returns, after Close, the tree that was written, without reading it again. It returns nil without Sum, and if the tree
// on disk may differ: on file systems that do not keep modes, and on systems on which names may change.
func (w *Writer) Tree() (*hashing.Tree, error) {
	if !w.done || !w.sums || w.summed.lost || runtime.GOOS != "linux" {
		return nil, nil
	}
	entries := slices.Clone(w.summed.files)
	leftOut := map[string]bool{}
	for _, link := range w.leftOut {
		leftOut[link.Path] = true
	}
	filled := map[string]bool{}
	for name := range w.kinds {
		if !leftOut[name] {
			filled[path.Dir(name)] = true
		}
	}
	for name, kind := range w.kinds {
		switch {
		case kind == pathsafe.Directory && !filled[name] && name != ".":
			entries = append(entries, hashing.Entry{Path: name, Kind: hashing.EmptyDir})
		case kind == pathsafe.Link && !leftOut[name]:
			entries = append(entries, hashing.Entry{Path: name, Kind: hashing.Link, Target: w.targets[name]})
		}
	}
	return hashing.NewTree(entries)
}

// Empty reports, after Close, whether there are no files and no links.
func (w *Writer) Empty() bool {
	for _, k := range w.kinds {
		if k == pathsafe.File {
			return false
		}
	}
	return len(w.targets) == len(w.leftOut)
}

// Abort removes the tree unless Close has succeeded. It can be deferred.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.err = errClosed
	_ = w.release()
	_ = w.remove()
}

func (w *Writer) release() error {
	var err error
	for _, h := range slices.Backward(w.handles) {
		err = errors.Join(err, h.close())
	}
	w.handles = nil
	w.own.Close()
	return err
}

var errClosed = errors.New("the tree is closed")

func (w *Writer) do(step func() error) error {
	if w.err == nil {
		w.err = step()
	}
	return w.err
}

// CheckName returns a *[PathError] for a path that [pathsafe.Name] refuses.
func CheckName(name string) error {
	if reason := pathsafe.Name(name); reason != "" {
		return &PathError{Path: name, Reason: "the name " + reason}
	}
	return nil
}

func (w *Writer) add(name string, k pathsafe.Kind) (*handle, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	parent, err := w.open(path.Dir(name))
	if err != nil {
		return nil, err
	}
	return parent, w.register(name, k)
}

func (w *Writer) register(name string, k pathsafe.Kind) error {
	switch w.kinds[name] {
	case pathsafe.File:
		return &PathError{Path: name, Reason: "there already is a file with this name"}
	case pathsafe.Directory:
		return &PathError{Path: name, Reason: "there already is a directory with this name"}
	case pathsafe.Link:
		return &PathError{Path: name, Reason: "there already is a link with this name"}
	}
	// The root is in kinds, but does not count.
	if len(w.kinds)-1 == w.limits.Entries {
		return &packagelimits.Error{Limit: packagelimits.OfEntries, Path: name, Max: int64(w.limits.Entries)}
	}
	if w.pathBytes += len(name); w.pathBytes > packagelimits.PathBytes {
		return &packagelimits.Error{Limit: packagelimits.OfPaths, Path: name, Max: packagelimits.PathBytes}
	}
	if err := w.checkPortable(name); err != nil {
		return err
	}
	if err := w.listed.Grow(w.ctx, int64(len(w.kinds))); err != nil {
		return err
	}
	w.kinds[name] = k
	return nil
}

func (w *Writer) open(dir string) (*handle, error) {
	last := len(w.handles) - 1
	for !isWithin(dir, w.handles[last].name) {
		if err := w.handles[last].close(); err != nil {
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
	return w.handles[last], nil
}

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
		return w.notStored(name, err)
	}
	w.handles = append(w.handles, &handle{name: name, root: root})
	return nil
}

func (w *Writer) makeDir(parent *os.Root, name, component string) error {
	if err := w.register(name, pathsafe.Directory); err != nil {
		return err
	}
	if err := parent.Mkdir(component, dirMode); err != nil {
		return w.notStored(name, err)
	}
	return parent.Chmod(component, dirMode)
}

// notStored returns the error for an entry that could not be created. The system's own error has the name unquoted.
func (w *Writer) notStored(name string, err error) error {
	cause := err
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		cause = failed.Err
	} else if failed, ok := errors.AsType[*os.LinkError](err); ok {
		cause = failed.Err
	}
	reason := ""
	switch other := w.folded[foldKey(name)]; {
	case slices.ContainsFunc(refusesName, func(refusal error) bool { return errors.Is(cause, refusal) }):
		reason = fmt.Sprintf("this file system cannot store the name: %s", cause)
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%q: %w", name, cause)
	case other != name:
		reason = clashReason(other) + ", and this file system cannot store both"
	default:
		reason = "another program has created a file with this name"
	}
	return &PathError{Path: name, Reason: reason}
}

// refusesName are the errors of file systems for names that they do not allow: bytes, such as those that are not
// UTF-8 on macOS, characters, or the length.
var refusesName = []error{syscall.EILSEQ, syscall.EINVAL, syscall.ENAMETOOLONG}

func isWithin(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir) && name[len(dir)] == '/'
}
