//go:build unix

package localstate_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/localstate"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Reading a pipe would wait for a writer.
func TestReadPipe(t *testing.T) {
	t.Parallel()
	dir, pipe := t.TempDir(), filepath.Join(t.TempDir(), "pipe")
	testenv.Must(t, syscall.Mkfifo(pipe, 0o600))
	testenv.Must(t, os.Symlink(pipe, filepath.Join(dir, "x")))
	testenv.Must(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(local(`path = "x"`)), 0o600))
	got, err := localstate.Read(t.Context(), localstate.Project{Dir: dir, DataDir: filepath.Join(dir, ".terraform"), Workspace: "default"})
	if err != nil || !strings.Contains(got.Unknown, "x cannot be read: it is not a regular file") {
		t.Errorf("Read = %+v, %v, want no regular file", got, err)
	}
}
