package hashing_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
)

// stopping is a file system that ends a context when a file or directory with a certain name is opened.
type stopping struct {
	fstest.MapFS
	ctx  context.Context
	stop func()
	at   string
	late atomic.Int64 // how often something was opened after the context had ended
}

func (s *stopping) Open(name string) (fs.File, error) {
	s.opened(name)
	return s.MapFS.Open(name)
}

func (s *stopping) ReadDir(name string) ([]fs.DirEntry, error) {
	s.opened(name)
	return s.MapFS.ReadDir(name)
}

func (s *stopping) opened(name string) {
	if s.ctx.Err() != nil {
		s.late.Add(1)
	}
	if name == s.at {
		s.stop()
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user has left")
	for _, at := range []string{"", "d0", "d500", "d0/main.tf", "d1/empty.tf"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			fsys := &stopping{MapFS: fstest.MapFS{}, ctx: ctx, stop: func() { cancel(cause) }, at: at}
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
			// Goroutines that read files may each have looked at the context before it ended.
			if late := fsys.late.Load(); late > int64(runtime.GOMAXPROCS(0)) || at == "" && late > 0 {
				t.Errorf("ReadTree opened %d files and directories after its context ended", late)
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
