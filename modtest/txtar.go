package modtest

import (
	"io/fs"
	"os"

	"golang.org/x/tools/txtar"
)

// Txtar returns the file tree of a txtar text. Text before the first file is a comment. Errors,
// such as invalid names like "../x" and duplicate names, are reported by the function that the
// tree is passed to.
func Txtar(text string) fs.FS {
	fsys, err := txtar.FS(txtar.Parse([]byte(text)))
	if err != nil {
		return brokenFS{err}
	}
	return fsys
}

// TxtarFile returns the file tree of the txtar file at path. If the file cannot be read, the test
// fails immediately.
func TxtarFile(tb TB, path string) fs.FS {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("modtest: %v", err)
	}
	return Txtar(string(text))
}

// brokenFS returns the error of a text from its methods, so that the result of Txtar can be
// passed directly to another function.
type brokenFS struct{ err error }

func (b brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: b.err}
}
