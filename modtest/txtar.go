package modtest

import (
	"io/fs"
	"os"

	"golang.org/x/tools/txtar"
)

// Txtar returns the file tree of a txtar text. Text before the first file is a comment.
// Invalid names, such as "../x", and names that occur twice are reported by the function
// that gets the tree.
func Txtar(text string) fs.FS {
	fsys, err := txtar.FS(txtar.Parse([]byte(text)))
	if err != nil {
		return brokenFS{err}
	}
	return fsys
}

// TxtarFile returns the file tree of the txtar file at path. The test fails at once if
// the file cannot be read.
func TxtarFile(tb TB, path string) fs.FS {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("modtest: %v", err)
	}
	return Txtar(string(text))
}

// brokenFS returns the error of a text from its methods, so that the result of Txtar can
// be an argument of another call.
type brokenFS struct{ err error }

func (b brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: b.err}
}
