package modtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// HostPlaceholder is replaced by the world's host and port in files that are served or written. The port
// differs in each run, and so do hashes, commits (and later ones) and digests of such files. All others are
// the same in every run and on every machine.
const HostPlaceholder = "MODTEST_HOST"

// TreeError is an error of the tree of a world.
type TreeError struct {
	Path string // in the tree, with forward slashes
	Err  error
}

func (e *TreeError) Error() string { return fmt.Sprintf("modtest: %q: %v", e.Path, e.Err) }

func (e *TreeError) Unwrap() error { return e.Err }

// errStrayFile refuses a file that would never be served; usually a level was forgotten.
var errStrayFile = errors.New("a file where only directories have a meaning")

type file struct {
	path string
	mode fs.FileMode // 0o644, 0o755 or fs.ModeSymlink
	data []byte      // the target if it is a link
}

// readFiles reads all files, sorted by path, and expands the placeholder.
func readFiles(fsys fs.FS, host string) ([]file, error) {
	var files []file
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := readFile(fsys, name, d.Type())
		if err != nil {
			return err
		}
		f.data = expand(f.data, host)
		files = append(files, f)
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return files, err
}

func readFile(fsys fs.FS, name string, kind fs.FileMode) (file, error) {
	switch {
	case kind == fs.ModeSymlink:
		target, err := fs.ReadLink(fsys, name)
		return file{name, fs.ModeSymlink, []byte(target)}, err
	case !kind.IsRegular():
		return file{}, &TreeError{name, fmt.Errorf("cannot serve a file of the type %v", kind)}
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return file{}, err
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return file{}, err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return file{name, mode, data}, nil
}

func expand(data []byte, host string) []byte {
	return bytes.ReplaceAll(data, []byte(HostPlaceholder), []byte(host))
}

// directories returns the sorted names of the directories in dir; none if it does not exist.
func directories(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &TreeError{dir, err}
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			return nil, &TreeError{path.Join(dir, e.Name()), errStrayFile}
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// roots returns the directories below top that satisfy isRoot, relative to top, without those inside
// another one.
func roots(fsys fs.FS, top string, isRoot func(name string) bool) ([]string, error) {
	names, err := directories(fsys, top)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if isRoot(name) {
			found = append(found, name)
			continue
		}
		below, err := roots(fsys, path.Join(top, name), isRoot)
		if err != nil {
			return nil, err
		}
		for _, b := range below {
			found = append(found, path.Join(name, b))
		}
	}
	return found, nil
}

// subtree is fs.Sub for paths that were found in fsys.
func subtree(fsys fs.FS, dir string) (fs.FS, error) {
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, &TreeError{dir, err}
	}
	return sub, nil
}

// Txtar returns the file tree of a txtar text, without the comment before the first file. Invalid and
// duplicate names are errors of the function that gets the tree.
func Txtar(text string) fs.FS {
	fsys, err := txtar.FS(txtar.Parse([]byte(text)))
	if err != nil {
		return brokenFS{err}
	}
	return fsys
}

// TxtarFile is Txtar for a file. If that cannot be read, the test fails.
func TxtarFile(tb TB, path string) fs.FS {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("modtest: %v", err)
	}
	return Txtar(string(text))
}

// brokenFS returns an error from its methods, so that the result of Txtar can be passed on.
type brokenFS struct{ err error }

func (b brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: b.err}
}

// WriteTree writes the directory sub of the tree ("." is all) to dir, which it creates, and expands
// [HostPlaceholder]. Without sub, the error wraps [fs.ErrNotExist].
func (w *World) WriteTree(dir, sub string) error {
	fsys, err := subtree(w.fsys, sub)
	if err != nil {
		return err
	}
	files, err := readFiles(fsys, w.host)
	if err != nil {
		return &TreeError{sub, err}
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(f.path)), f); err != nil {
			return fmt.Errorf("modtest: %w", err)
		}
	}
	return nil
}

func writeFile(name string, f file) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if f.mode == fs.ModeSymlink {
		return os.Symlink(string(f.data), name)
	}
	return os.WriteFile(name, f.data, f.mode)
}

// Dir is [World.WriteTree] to a new directory, which is removed at the end of the test.
func (w *World) Dir(tb TB, sub string) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := w.WriteTree(dir, sub); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// mountFiles serves the directory files/ of the tree. Directories have no listing.
func mountFiles(mux *http.ServeMux, fsys fs.FS, host string) {
	mux.HandleFunc("GET /files/{path...}", func(w http.ResponseWriter, r *http.Request) {
		files, err := subtree(fsys, "files")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		name := r.PathValue("path")
		data, err := fs.ReadFile(files, name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(expand(data, host)))
	})
}
