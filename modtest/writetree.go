package modtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteTree writes the directory sub of the world's tree ("." is all of it)
// into the directory dir, with [HostPlaceholder] expanded. It makes dir where
// that is absent. A missing sub is an error that is [fs.ErrNotExist].
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

// Dir is [World.WriteTree] into a new directory that is removed at the end of
// the test, and that directory's path.
func (w *World) Dir(tb TB, sub string) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := w.WriteTree(dir, sub); err != nil {
		tb.Fatal(err)
	}
	return dir
}
