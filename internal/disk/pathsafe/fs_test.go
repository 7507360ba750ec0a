package pathsafe_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/testenv"
)

// FS reads names of any bytes, and otherwise what os.Root.FS does.
func TestFS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/b", "c"} {
		testenv.WriteFile(t, filepath.Join(dir, name), name)
	}
	testenv.Must(t, os.Symlink("../c", filepath.Join(dir, "a", "l")))
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	defer root.Close()
	fsys := pathsafe.FS(root)
	testenv.Must(t, fstest.TestFS(fsys, "a/b", "a/l", "c"))
	for _, name := range []string{"", "..", "a/../c", "/c", "a/", "a//b", "\xff/..", "./\xff"} {
		_, err := fsys.Open(name)
		_, lstatErr := fsys.Lstat(name)
		_, linkErr := fsys.ReadLink(name)
		if !errors.Is(err, fs.ErrInvalid) || !errors.Is(lstatErr, fs.ErrInvalid) || !errors.Is(linkErr, fs.ErrInvalid) {
			t.Errorf("%q: %v, %v, %v, want fs.ErrInvalid", name, err, lstatErr, linkErr)
		}
	}
	if runtime.GOOS != "linux" {
		return // other systems do not store the next names
	}
	testenv.WriteFile(t, filepath.Join(dir, "d\xe9", "x\xff\\y"), "odd")
	testenv.Must(t, os.Symlink("x\xff\\y", filepath.Join(dir, "d\xe9", "l")))
	text, err := fs.ReadFile(fsys, "d\xe9/l")
	target, linkErr := fs.ReadLink(fsys, "d\xe9/l")
	entries, dirErr := fs.ReadDir(fsys, "d\xe9")
	info, statErr := fs.Stat(fsys, "d\xe9/l")
	if err := errors.Join(err, linkErr, dirErr, statErr); err != nil || string(text) != "odd" || target != "x\xff\\y" || len(entries) != 2 || info.Size() != 3 {
		t.Errorf("d\\xe9 has %q, %q, %v, %v, %v", text, target, entries, info, err)
	}
}
