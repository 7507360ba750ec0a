package filelock_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/filelock"
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

// The directory of a killed process is removed by the next one, in the same boot, and that of a running one is not. The
// next process may make its directory while others remove what is left.
func TestMkdirTempAfterKill(t *testing.T) {
	if filelock.Boot() == "" {
		t.Skip("the boot is not known here, so that directories are removed after a day")
	}
	tmp := t.TempDir() // of the other process, this is in that of this one
	t.Setenv("TMPDIR", tmp)
	out, err := testenv.OwnProcess(t, func() string {
		dir, _, err := filelock.MkdirTemp("cotter-x-")
		testenv.Must(t, err)
		testenv.WriteFile(t, filepath.Join(dir, "socket"), dir)
		fmt.Println("holds", dir)
		self, err := os.FindProcess(os.Getpid())
		testenv.Must(t, err)
		testenv.Must(t, self.Kill())
		select {}
	})
	_, left, _ := strings.Cut(out, "holds ")
	left, _, _ = strings.Cut(left, "\n")
	if _, statErr := os.Stat(filepath.Join(left, "socket")); err == nil || statErr != nil {
		t.Fatalf("the process ended with %v and left no directory: %v\n%s", err, statErr, out)
	}
	if !strings.HasPrefix(left, tmp+string(filepath.Separator)) {
		t.Fatalf("the process made %s, not in %s", left, tmp)
	}
	t.Setenv("TMPDIR", filepath.Dir(left))
	var atOnce sync.WaitGroup
	for range 8 {
		atOnce.Go(func() {
			for range 20 {
				held, remove, err := filelock.MkdirTemp("cotter-x-")
				if err == nil {
					err = os.WriteFile(filepath.Join(held, "socket"), nil, 0o600)
					remove()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	atOnce.Wait()
	got, err := filepath.Glob(filepath.Join(filepath.Dir(left), "*"))
	testenv.Must(t, err)
	if diff := cmp.Diff([]string(nil), got); diff != "" {
		t.Errorf("directories that are left (-want +got):\n%s", diff)
	}
}
