package lockfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

const lockName = ".terraform.lock.hcl"

func project(t *testing.T, lock string) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	t.Cleanup(func() { root.Close() })
	name := filepath.Join(dir, lockName)
	if lock != "" {
		testenv.Must(t, os.WriteFile(name, []byte(lock), 0o600))
	}
	return root, name
}

func readLock(t *testing.T, root *os.Root) *lockfile.File {
	t.Helper()
	file, err := lockfile.ReadFile(root, lockName)
	testenv.Must(t, err)
	return file
}

func write(t *testing.T, file *lockfile.File, root *os.Root, want bool) {
	t.Helper()
	if wrote, err := file.WriteFile(root, lockName); err != nil || wrote != want {
		t.Fatalf("WriteFile = %v, %v, want %v", wrote, err, want)
	}
}

func content(t *testing.T, name string) string {
	t.Helper()
	got, err := os.ReadFile(name)
	testenv.Must(t, err)
	return string(got)
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	root, name := project(t, "# c\n")
	file := readLock(t, root)
	write(t, file, root, false)
	file.SetModule(testModule("a"))
	write(t, file, root, true)
	if got, want := content(t, name), "# c\n\n"+testBlock; got != want {
		t.Errorf("file = %q, want %q", got, want)
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want that of the old file, 0600", info.Mode(), err)
	}
	write(t, file, root, false)
	file.SetModule(testModule("b"))
	write(t, file, root, true)
	assertSameModules(t, file, readLock(t, root))
}

func TestWriteNewFile(t *testing.T) {
	t.Parallel()
	root, name := project(t, "")
	file := readLock(t, root)
	write(t, file, root, false)
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("writing nothing made a file: %v", err)
	}
	file.SetModule(testModule("a"))
	write(t, file, root, true)
	assertSameModules(t, file, readLock(t, root))
}

func TestWriteFileRefusesWhatChanged(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, before, meanwhile string }{
		{"changed", "# c\n", "# d\n"},
		{"appeared", "", "# d\n"},
		{"vanished", "# c\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, name := project(t, tt.before)
			file := readLock(t, root)
			file.SetModule(testModule("a"))
			testenv.Must(t, os.RemoveAll(name))
			if tt.meanwhile != "" {
				testenv.Must(t, os.WriteFile(name, []byte(tt.meanwhile), 0o644))
			}
			if wrote, err := file.WriteFile(root, lockName); wrote || !errors.Is(err, lockfile.ErrChanged) {
				t.Errorf("WriteFile = %v, %v, want ErrChanged", wrote, err)
			}
			if got, _ := os.ReadFile(name); string(got) != tt.meanwhile {
				t.Errorf("file = %q, want %q", got, tt.meanwhile)
			}
		})
	}
}

func TestReadFileErrors(t *testing.T) {
	t.Parallel()
	t.Run("content", func(t *testing.T) {
		t.Parallel()
		root, _ := project(t, "module \"a\" {\n}\n")
		_, err := lockfile.ReadFile(root, lockName)
		diags, ok := errors.AsType[hcl.Diagnostics](err)
		if !ok || diags[0].Subject.Filename != lockName {
			t.Errorf("ReadFile = %v, want hcl.Diagnostics about %s", err, lockName)
		}
	})
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		root, name := project(t, "")
		testenv.Must(t, os.Mkdir(name, 0o755))
		if _, err := lockfile.ReadFile(root, lockName); !errors.Is(err, lockfile.ErrIrregular) {
			t.Errorf("ReadFile = %v, want ErrIrregular", err)
		}
	})
	t.Run("link", func(t *testing.T) {
		t.Parallel()
		root, name := project(t, "")
		testenv.Must(t, os.WriteFile(name+".real", []byte("# c\n"), 0o644))
		if err := os.Symlink(filepath.Base(name)+".real", name); err != nil {
			t.Skipf("this system makes no symbolic links: %v", err)
		}
		if _, err := lockfile.ReadFile(root, lockName); !errors.Is(err, lockfile.ErrIrregular) {
			t.Errorf("ReadFile = %v, want ErrIrregular", err)
		}
		var file lockfile.File
		file.SetModule(testModule("a"))
		if _, err := file.WriteFile(root, lockName); !errors.Is(err, lockfile.ErrIrregular) {
			t.Errorf("WriteFile = %v, want ErrIrregular", err)
		}
		if got := content(t, name+".real"); got != "# c\n" {
			t.Errorf("the link's target holds %q now", got)
		}
	})
}
