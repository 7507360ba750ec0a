package treewriter_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestCopyTree(t *testing.T) {
	t.Parallel()
	src := fstest.MapFS{
		"main.tf": {Data: []byte("x"), Mode: 0o666},
		"run.sh":  {Data: []byte("y"), Mode: 0o4711},
		"m/x.tf":  {Data: []byte("z"), Mode: 0o400},
		"empty":   {Mode: fs.ModeDir | 0o700},
		"link":    {Data: []byte("m/x.tf"), Mode: fs.ModeSymlink},
	}
	dst := filepath.Join(t.TempDir(), "dst")
	testenv.Must(t, copyTree(t.Context(), dst, src, treewriter.Limits{}))
	want := map[string]string{
		"main.tf": "- 0644 x",
		"run.sh":  "- 0755 y",
		"m":       "d 0755",
		"m/x.tf":  "- 0644 z",
		"empty":   "d 0755",
		"link":    "l m/x.tf",
	}
	if diff := cmp.Diff(want, snapshot(t, dst, "")); diff != "" {
		t.Errorf("copy differs (-want +got):\n%s", diff)
	}
}

// lookups counts the files that are opened from the top of a directory.
type lookups struct {
	pathsafe.RootFS
	count *atomic.Int64
}

func (l lookups) Open(name string) (fs.File, error) {
	l.count.Add(1)
	return l.RootFS.Open(name)
}

// TestCopyTreeOpensDirectoriesOnce checks that each directory is opened once, and not again for each file.
func TestCopyTreeOpensDirectoriesOnce(t *testing.T) {
	t.Parallel()
	src := t.TempDir()
	testenv.WriteFiles(t, src, map[string]string{"a": "1", "d/e/b": "2", "d/e/c": "3", "d/f": "4", "large": strings.Repeat("5", 200_000)})
	root, err := os.OpenRoot(src)
	testenv.Must(t, err)
	t.Cleanup(func() { testenv.Must(t, root.Close()) })
	var count atomic.Int64
	dst := filepath.Join(t.TempDir(), "dst")
	testenv.Must(t, copyTree(t.Context(), dst, lookups{pathsafe.FS(root), &count}, treewriter.Limits{}))
	if diff := cmp.Diff(snapshot(t, src, "- 0644 "), snapshot(t, dst, "- 0644 ")); diff != "" {
		t.Errorf("copy differs (-want +got):\n%s", diff)
	}
	if n := count.Load(); n != 0 {
		t.Errorf("%d files were looked up from the top", n)
	}
}

func TestCopyTreeRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]fstest.MapFS{
		"version control":  {".git/config": {}},
		"device":           {"dev": {Mode: fs.ModeDevice}},
		"pipe":             {"pipe": {Mode: fs.ModeNamedPipe}},
		"link outside":     {"l": {Data: []byte("../x"), Mode: fs.ModeSymlink}},
		"link to nothing":  {"l": {Data: []byte("x"), Mode: fs.ModeSymlink}},
		"control in names": {"a\nb": {}},
	}
	for name, src := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dst := filepath.Join(t.TempDir(), "dst")
			var refused *treewriter.PathError
			if err := copyTree(t.Context(), dst, src, treewriter.Limits{}); !errors.As(err, &refused) {
				t.Errorf("error is %v, want a *PathError", err)
			}
			if _, err := os.Lstat(dst); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something is left at dst: %v", err)
			}
		})
	}
}

// TestCopyTreeFromDisk reads links from a real directory without following
// them.
func TestCopyTreeFromDisk(t *testing.T) {
	t.Parallel()
	src := t.TempDir()
	for name, target := range map[string]string{"loop": ".", "up": "d/..", "d": ""} {
		var err error
		if target == "" {
			err = os.Mkdir(filepath.Join(src, name), 0o700)
		} else {
			err = os.Symlink(target, filepath.Join(src, name))
		}
		testenv.Must(t, err)
	}
	root, err := os.OpenRoot(src)
	testenv.Must(t, err)
	defer root.Close()
	dst := filepath.Join(t.TempDir(), "dst")
	var refused *treewriter.PathError
	if err := copyTree(t.Context(), dst, root.FS(), treewriter.Limits{}); !errors.As(err, &refused) || refused.Path != "up" {
		t.Errorf("error is %v, want a *PathError of the link that is not clean", err)
	}
	testenv.Must(t, os.Remove(filepath.Join(src, "up")))
	testenv.Must(t, copyTree(t.Context(), dst, root.FS(), treewriter.Limits{}))
	if diff := cmp.Diff(map[string]string{"d": "d 0755", "loop": "l ."}, snapshot(t, dst, "")); diff != "" {
		t.Errorf("copy differs (-want +got):\n%s", diff)
	}
}

func TestCopyTreeCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dst := filepath.Join(t.TempDir(), "dst")
	err := copyTree(ctx, dst, fstest.MapFS{"a": {}}, treewriter.Limits{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

// TestCopyTreeLimits has many files in one directory, which are copied concurrently.
func TestCopyTreeLimits(t *testing.T) {
	t.Parallel()
	src := fstest.MapFS{}
	for i := range 200 {
		src[fmt.Sprintf("d/f%03d", i)] = &fstest.MapFile{Data: make([]byte, 10)}
	}
	src["d/f150"].Data = make([]byte, 11)
	for name, tt := range map[string]struct {
		limits treewriter.Limits
		path   string // the path in the error; "" if any file is possible
		ok     bool
	}{
		"just enough":    {limits: treewriter.Limits{TreeBytes: 2001, FileBytes: 11, Entries: 201}, ok: true},
		"too many bytes": {limits: treewriter.Limits{TreeBytes: 2000}},
		"too many files": {limits: treewriter.Limits{Entries: 200}, path: "d/f199"},
		"one too large":  {limits: treewriter.Limits{FileBytes: 10}, path: "d/f150"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dst := filepath.Join(t.TempDir(), "dst")
			err := copyTree(t.Context(), dst, src, tt.limits)
			var over *packagelimits.Error
			switch {
			case tt.ok && err == nil:
				if got := len(snapshot(t, dst, "")); got != 201 {
					t.Errorf("the copy has %d entries, want 201", got)
				}
			case tt.ok || !errors.As(err, &over) || tt.path != "" && over.Path != tt.path:
				t.Errorf("error is %v, want a *packagelimits.Error of %q, or none: %v", err, tt.path, tt.ok)
			default:
				if _, err := os.Lstat(dst); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("something is left at dst: %v", err)
				}
			}
		})
	}
}

// copyTree also checks the tree that CopyTree returns.
func copyTree(ctx context.Context, dst string, src fs.FS, limits treewriter.Limits) error {
	parent, err := os.OpenRoot(filepath.Dir(dst))
	if err != nil {
		return err
	}
	defer parent.Close()
	tree, err := treewriter.CopyTree(ctx, parent, filepath.Base(dst), src, limits)
	if err != nil || tree == nil {
		return err
	}
	root, err := os.OpenRoot(dst)
	if err != nil {
		return err
	}
	defer root.Close()
	onDisk, err := hashing.ReadTree(ctx, hashing.RootFS(root))
	if err == nil && onDisk.T1() != tree.T1() {
		err = fmt.Errorf("the tree differs from that on disk: %s", cmp.Diff(onDisk, tree))
	}
	return err
}
