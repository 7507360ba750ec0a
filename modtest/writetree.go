package modtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteTree writes the directory sub of the world's tree ("." is the whole tree) to the directory
// dir and expands [HostPlaceholder]. It creates dir if it does not exist. If sub does not exist,
// the error wraps [fs.ErrNotExist].
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

// Dir writes the directory sub of the tree to a new directory, like [World.WriteTree], and
// returns its path. The directory is removed at the end of the test.
func (w *World) Dir(tb TB, sub string) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := w.WriteTree(dir, sub); err != nil {
		tb.Fatal(err)
	}
	return dir
}
