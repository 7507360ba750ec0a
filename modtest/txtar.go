package modtest

import (
	"io/fs"
	"os"

	"golang.org/x/tools/txtar"
)

// Txtar is the file tree that a txtar text holds. Text before the first file
// is a comment. Names that no tree can have, such as "../x" or one name twice,
// are reported by the function that the tree is given to.
func Txtar(text string) fs.FS {
	fsys, err := txtar.FS(txtar.Parse([]byte(text)))
	if err != nil {
		return brokenFS{err}
	}
	return fsys
}

// TxtarFile is the file tree that the txtar file at path holds. It ends the
// test where the file cannot be read.
func TxtarFile(tb TB, path string) fs.FS {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("modtest: %v", err)
	}
	return Txtar(string(text))
}

// brokenFS carries a text's error to where errors can be returned, so that
// Txtar can stand inside another call.
type brokenFS struct{ err error }

func (b brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: b.err}
}
