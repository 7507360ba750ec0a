package hashing_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
)

// stopping is a file system that ends a context when a file or directory with a certain name is opened.
type stopping struct {
	fstest.MapFS
	at    string
	stop  func()
	opens atomic.Int64
}

func (s *stopping) Open(name string) (fs.File, error) {
	s.opens.Add(1)
	if name == s.at {
		s.stop()
	}
	return s.MapFS.Open(name)
}

func (s *stopping) ReadDir(name string) ([]fs.DirEntry, error) {
	s.opens.Add(1)
	if name == s.at {
		s.stop()
	}
	return s.MapFS.ReadDir(name)
}

func TestContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user has left")
	for _, at := range []string{"", "d0", "d500", "d0/main.tf", "d1/empty.tf"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			fsys := &stopping{MapFS: fstest.MapFS{}, at: at, stop: func() { cancel(cause) }}
			for i := range 1000 {
				fsys.MapFS[fmt.Sprintf("d%d/main.tf", i)] = file("# a")
				fsys.MapFS[fmt.Sprintf("d%d/empty.tf", i)] = file("")
			}
			if at == "" {
				fsys.stop()
			}
			_, err := hashing.ReadTree(ctx, fsys)
			var treeError *hashing.TreeError
			if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) || !errors.As(err, &treeError) {
				t.Errorf("ReadTree = %v, want a *TreeError with the context's error and its cause", err)
			}
			if opens := fsys.opens.Load(); opens > 2900 || at == "" && opens > 0 {
				t.Errorf("ReadTree opened %d files and directories after its context ended", opens)
			}
		})
	}
}

// A directory with many files is not listed to its end either.
func TestContextOfRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("# a"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hashing.ReadTree(ctx, hashing.RootFS(root)); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadTree = %v, want the context's error", err)
	}
}
