//go:build unix

package repofiles_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/configuration/repofiles"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestPipe opens pipes in the repository, which would block until there is a writer.
func TestPipe(t *testing.T) {
	t.Parallel()
	repo := realTempDir(t)
	testenv.Must(t, syscall.Mkfifo(filepath.Join(repo, "pipe"), 0o644))
	link(t, repo, "link", "pipe")
	dir := dirOf(t, repo, "", yes)
	for _, name := range []string{"pipe", "link"} {
		if _, err := dir.Open(name); !errors.Is(err, repofiles.ErrNotRegular) {
			t.Errorf("Open(%q) = %v, want %v", name, err, repofiles.ErrNotRegular)
		}
	}
}
