package objects_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/internal/objects"
	"github.com/cotterpin/cotter/internal/testenv"
)

func keys(names ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

// writeKey writes an object whose content is its name.
func writeKey(_ context.Context, key string, file *os.File) error {
	_, err := file.WriteString(key)
	return err
}

// bucket has the listed objects.
type bucket struct {
	list iter.Seq2[string, error]
	get  func(ctx context.Context, key string, file *os.File) error
}

func (b bucket) List(context.Context, string) iter.Seq2[string, error] { return b.list }

func (b bucket) Get(ctx context.Context, key string, file *os.File) error {
	return b.get(ctx, key, file)
}

func TestRun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prefix string
		keys   []string
		want   map[string]string
	}{
		"nested":       {"net/", []string{"net/a", "net/b/c", "net/b/d/e"}, map[string]string{"a": "net/a", "b/c": "net/b/c", "b/d/e": "net/b/d/e"}},
		"whole bucket": {"", []string{"a", "b/c"}, map[string]string{"a": "a", "b/c": "b/c"}},
		"directories":  {"net/", []string{"net/", "net/b/", "net/b/c"}, map[string]string{"b/c": "net/b/c"}},
		"no meaning":   {"net/", []string{"net//a", "net/./b", "net/x/../c"}, map[string]string{"a": "net//a", "b": "net/./b", "c": "net/x/../c"}},
		"nothing":      {"net/", []string{"net/", "net/b/"}, nil},
	}
	for name, test := range tests {
		dir := filepath.Join(t.TempDir(), "package")
		err := objects.Fetch(t.Context(), bucket{keys(test.keys...), writeKey}, test.prefix, false, dir)
		if errors.Is(err, getmodules.ErrEmpty) != (test.want == nil) || err != nil && test.want != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(dir); test.want == nil {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: there is a directory: %v", name, err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, testenv.Files(t, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRunRefused(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"net/../x", "net/../../x", "net/a/../../../x", "net/..", "net/.", "net/a/..", "net//../x", "net//..//../x", "/etc/x", "elsewhere/x", "net", "", "../x",
		"net/a\x00b", "net/\xff", "net/first", "net//first", "net/first/x", "net/" + strings.Repeat("x", 300),
	} {
		outside := t.TempDir()
		dir := filepath.Join(outside, "a", "package")
		testenv.Must(t, os.Mkdir(filepath.Dir(dir), 0o700))
		if err := objects.Fetch(t.Context(), bucket{keys("net/first", hostile), writeKey}, "net/", false, dir); err == nil {
			t.Errorf("%q: there is no error", hostile)
		}
		for name := range testenv.Files(t, outside) {
			if !strings.HasPrefix(name, "a/package/") {
				t.Errorf("%q: %s is written", hostile, name)
			}
		}
	}
}

// TestRunThroughLink creates a link in the directory during the download. This does not happen
// normally, but the link must not be followed.
func TestRunThroughLink(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	dir := filepath.Join(outside, "package")
	testenv.Must(t, os.Mkdir(filepath.Join(outside, "target"), 0o700))
	linked := func(yield func(string, error) bool) {
		if !yield("first", nil) {
			return
		}
		if err := os.Symlink("../target", filepath.Join(dir, "link")); err != nil {
			t.Error(err)
		}
		yield("link/x", nil)
	}
	if err := objects.Fetch(t.Context(), bucket{linked, writeKey}, "", false, dir); err == nil {
		t.Error("there is no error")
	}
	if got := testenv.Files(t, filepath.Join(outside, "target")); len(got) != 0 {
		t.Errorf("outside is %v", got)
	}
}

// TestRunAtOnce checks that several objects are downloaded concurrently, but not too many, and
// that the listing is read no faster than that.
func TestRunAtOnce(t *testing.T) {
	t.Parallel()
	const atOnce, all = 8, 40
	var running, listed atomic.Int32
	full := make(chan struct{})
	var once sync.Once
	var names []string
	for i := range all {
		names = append(names, fmt.Sprint(i))
	}
	counted := func(yield func(string, error) bool) {
		for _, name := range names {
			listed.Add(1)
			if !yield(name, nil) {
				return
			}
		}
	}
	get := func(ctx context.Context, key string, file *os.File) error {
		now := running.Add(1)
		defer running.Add(-1)
		if now == atOnce {
			once.Do(func() {
				if got := listed.Load(); got > atOnce+1 {
					t.Errorf("%d objects are listed while %d are downloaded", got, now)
				}
				close(full)
			})
		}
		if now > atOnce {
			t.Errorf("%d objects are downloaded at once", now)
		}
		select {
		case <-full:
		case <-ctx.Done():
		}
		return writeKey(ctx, key, file)
	}
	dir := filepath.Join(t.TempDir(), "package")
	if err := objects.Fetch(t.Context(), bucket{counted, get}, "", false, dir); err != nil || len(testenv.Files(t, dir)) != all {
		t.Errorf("%d files, %v", len(testenv.Files(t, dir)), err)
	}
}

// TestRunEnds checks that the first failure ends the other downloads and is returned.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	failed := errors.New("this one failed")
	waits := func(ctx context.Context, key string, _ *os.File) error {
		if key == "bad" {
			return failed
		}
		<-ctx.Done()
		return ctx.Err()
	}
	endless := func(yield func(string, error) bool) {
		for i := 0; ; i++ {
			if i == 3 && !yield("bad", nil) || !yield(fmt.Sprint(i), nil) {
				return
			}
		}
	}
	broken := func(yield func(string, error) bool) { _ = yield("a", nil) && yield("", failed) }
	for name, list := range map[string]iter.Seq2[string, error]{"an object": endless, "the list": broken} {
		if err := objects.Fetch(t.Context(), bucket{list, waits}, "", false, filepath.Join(t.TempDir(), "package")); !errors.Is(err, failed) {
			t.Errorf("%s: error is %v, want %v", name, err, failed)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := objects.Fetch(ctx, bucket{endless, waits}, "", false, filepath.Join(t.TempDir(), "package")); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	b := bucket{get: writeKey}
	testenv.Must(t, objects.Fetch(t.Context(), b, "x.zip", true, name))
	if err := objects.Fetch(t.Context(), b, "x.zip", true, name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v, want fs.ErrExist", err)
	}
}
