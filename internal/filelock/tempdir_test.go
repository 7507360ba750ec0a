package filelock_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/filelock"
	"github.com/cotterpin/cotter/internal/testenv"
)

// A killed process leaves its directory. A later one removes it, but none that a process holds, and nothing else.
func TestMkdirTemp(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	held, remove, err := filelock.MkdirTemp("cotter-x-")
	testenv.Must(t, err)
	testenv.WriteFile(t, filepath.Join(held, "socket"), "")
	long := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"cotter-x-left/socket", "cotter-y-1/socket"} {
		testenv.WriteFile(t, filepath.Join(tmp, name), "")
		testenv.Must(t, os.Chtimes(filepath.Join(tmp, filepath.Dir(name)), long, long))
	}
	testenv.WriteFile(t, filepath.Join(tmp, "cotter-x-new/socket"), "")
	testenv.WriteFile(t, filepath.Join(tmp, "cotter-x-file"), "")
	testenv.Must(t, os.Chtimes(filepath.Join(tmp, "cotter-x-file"), long, long))
	testenv.Must(t, os.Chtimes(held, long, long))

	other, removeOther, err := filelock.MkdirTemp("cotter-x-")
	testenv.Must(t, err)
	want := []string{filepath.Base(held), filepath.Base(other), "cotter-x-file", "cotter-x-new", "cotter-y-1"}
	got, err := filepath.Glob(filepath.Join(tmp, "*"))
	testenv.Must(t, err)
	known := make(map[string]bool)
	for _, name := range want {
		known[filepath.Join(tmp, name)] = true
	}
	for _, name := range got {
		if !known[name] {
			t.Errorf("%s is there", name)
		}
		delete(known, name)
	}
	if diff := cmp.Diff(map[string]bool{}, known); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	removeOther()
	remove()
	for _, dir := range []string{held, other} {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s after remove: %v", dir, err)
		}
	}
}
