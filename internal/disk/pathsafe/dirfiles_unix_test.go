//go:build unix

package pathsafe_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestDirFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFiles(t, dir, map[string]string{"f": "content", "d/inside": "x"})
	testenv.Must(t, os.Symlink("f", filepath.Join(dir, "link")))
	testenv.Must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	defer root.Close()
	files, err := pathsafe.FS(root).Files()
	testenv.Must(t, err)
	defer func() { testenv.Must(t, files.Close()) }()

	f, err := files.Open("f")
	testenv.Must(t, err)
	state, err := f.Stat()
	text, readErr := io.ReadAll(f)
	if errors.Join(err, readErr, f.Close()) != nil || state.Size != 7 || !state.Mode.IsRegular() || string(text) != "content" {
		t.Errorf("the file has state %+v, content %q, errors %v, %v", state, text, err, readErr)
	}
	for _, name := range []string{"link", "d/inside", "..", "", "missing", "../" + filepath.Base(dir) + "/f"} {
		if f, err := files.Open(name); err == nil {
			t.Errorf("Open(%q) succeeded", name)
			_ = f.Close()
		}
	}
	pipe, err := files.Open("pipe")
	testenv.Must(t, err)
	if state, err := pipe.Stat(); err != nil || state.Mode.IsRegular() {
		t.Errorf("the pipe has state %+v, %v", state, err)
	}
	testenv.Must(t, pipe.Close())

	for _, name := range []string{"f", "link"} {
		if _, err := files.Create(name, 0o644); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create(%q): %v, want fs.ErrExist", name, err)
		}
	}
	made, err := files.Create("new", 0o600)
	testenv.Must(t, err)
	_, err = made.Write([]byte("abc"))
	testenv.Must(t, err)
	_, err = made.OSFile().WriteString("def")
	testenv.Must(t, err)
	testenv.Must(t, made.Close())
	if text, err := os.ReadFile(filepath.Join(dir, "new")); err != nil || string(text) != "abcdef" {
		t.Errorf("the new file has %q, %v", text, err)
	}
}
