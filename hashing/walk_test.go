package hashing_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestReadTreeLists(t *testing.T) {
	t.Parallel()
	tree := readTree(t, fstest.MapFS{
		"a/z":         file("1"),
		"a.b":         {Data: []byte("2"), Mode: 0o700}, // only the owner's bit counts
		"a.c":         {Mode: 0o611},
		"a-b":         executable("3"),
		"d/.git/HEAD": file("4"),
		"e":           emptyDir(),
		"f/g":         emptyDir(),
		"l":           link("a/z"),
		".git":        link("nowhere"),
		".hg":         {Mode: fs.ModeNamedPipe},
	})
	want := []string{
		"executable file a-b", "executable file a.b", "file a.c", "file a/z", "empty directory d", "empty directory e",
		"empty directory f/g", "link l a/z",
	}
	if diff := cmp.Diff(want, paths(tree)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if l := tree.Entries[7]; l.Sum != tree.Entries[3].Sum || l.Size != 0 {
		t.Errorf("the link has sum %x and size %d, want the sum of its file and 0", l.Sum, l.Size)
	}
}

func TestReadTreeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path string
		file *fstest.MapFile
		want string
	}{
		"FIFO":             {"d/pipe", &fstest.MapFile{Mode: fs.ModeNamedPipe}, "neither a regular file"},
		"device":           {"null", &fstest.MapFile{Mode: fs.ModeDevice}, "neither a regular file"},
		"character device": {"tty", &fstest.MapFile{Mode: fs.ModeDevice | fs.ModeCharDevice}, "neither a regular file"},
		"socket":           {"sock", &fstest.MapFile{Mode: fs.ModeSocket}, "neither a regular file"},
		"irregular":        {"what", &fstest.MapFile{Mode: fs.ModeIrregular}, "neither a regular file"},
		"newline":          {"a\nb", file(""), "a newline"},
		"newline in dir":   {"d/\x1b[31m\n/x", file(""), "a newline"},
		"long path":        {strings.Repeat("d/", 2048) + "f", file(""), "longer than 4096 bytes"},
		"NUL":              {"d/a\x00", file(""), "a NUL byte"},
		"bad name of link": {"a\n", link("x"), "a newline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := hashing.ReadTree(t.Context(), fstest.MapFS{test.path: test.file, "main.tf": file("")})
			var refused *hashing.TreeError
			if !errors.As(err, &refused) || !strings.HasPrefix(test.path, refused.Path) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("ReadTree: error %v, want %q at %q", err, test.want, test.path)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("the error %q has raw control characters", err)
			}
		})
	}
}

func TestDirErrors(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	_, err := hashing.Dir(t.Context(), missing)
	var refused *hashing.TreeError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &refused) || refused.Path != missing {
		t.Errorf("Dir of nothing: error %v, want fs.ErrNotExist in a *TreeError", err)
	}
	plain := filepath.Join(onDisk(t, fstest.MapFS{"f": file("")}), "f")
	if _, err := hashing.Dir(t.Context(), plain); !errors.As(err, &refused) {
		t.Errorf("Dir of a file: error %v, want a *TreeError", err)
	}
}

func TestDirByLink(t *testing.T) {
	t.Parallel()
	dir := onDisk(t, fstest.MapFS{"main.tf": file("x")})
	byLink := filepath.Join(t.TempDir(), "link")
	testenv.Must(t, os.Symlink(dir, byLink))
	want, err := hashing.Dir(t.Context(), dir)
	testenv.Must(t, err)
	if got, err := hashing.Dir(t.Context(), byLink); err != nil || got != want {
		t.Errorf("Dir by a link = %v, %v, want %v", got, err, want)
	}
}

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
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hashing.Dir(ctx, onDisk(t, fstest.MapFS{"main.tf": file("# a")})); !errors.Is(err, context.Canceled) {
		t.Errorf("Dir = %v, want the context's error", err)
	}
}

type oddFS struct {
	fstest.MapFS
	open func(name string, f fs.File) (fs.File, error)
}

func (o oddFS) Open(name string) (fs.File, error) {
	f, err := o.MapFS.Open(name)
	if err != nil || o.MapFS[name] == nil {
		return f, err
	}
	return o.open(name, f)
}

// oddFile reports each of its sizes once, and then the last one every time.
type oddFile struct {
	fs.File
	content io.Reader
	sizes   []int64
	mode    fs.FileMode
}

func (f *oddFile) Read(b []byte) (int, error) { return f.content.Read(b) }

func (f *oddFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	size := f.sizes[0]
	if len(f.sizes) > 1 {
		f.sizes = f.sizes[1:]
	}
	return oddInfo{info, size, f.mode}, err
}

type oddInfo struct {
	fs.FileInfo
	size int64
	mode fs.FileMode
}

func (i oddInfo) Size() int64       { return i.size }
func (i oddInfo) Mode() fs.FileMode { return i.mode }

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestChangingFiles(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]oddFile{
		"grows before the end":  {content: strings.NewReader("12345"), sizes: []int64{4}},
		"grows after the end":   {content: strings.NewReader("1234"), sizes: []int64{4, 5}},
		"shrinks":               {content: strings.NewReader("123"), sizes: []int64{4, 3}},
		"is cut off":            {content: strings.NewReader("123"), sizes: []int64{4}},
		"has no end":            {content: endless{}, sizes: []int64{0}},
		"is a FIFO when opened": {content: endless{}, sizes: []int64{0}, mode: fs.ModeNamedPipe},
		"is as large as can be": {content: strings.NewReader("1"), sizes: []int64{1<<63 - 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := oddFS{fstest.MapFS{"a/b": file("")}, func(_ string, f fs.File) (fs.File, error) {
				odd.File = f
				return &odd, nil
			}}
			_, err := hashing.ReadTree(t.Context(), fsys)
			var refused *hashing.TreeError
			if !errors.As(err, &refused) || refused.Path != "a/b" || !strings.Contains(err.Error(), "changed while") {
				t.Errorf("ReadTree: error %v, want one about a change of a/b", err)
			}
		})
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	fsys := oddFS{fstest.MapFS{}, func(name string, f fs.File) (fs.File, error) {
		if strings.HasPrefix(name, "bad") {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		}
		return f, nil
	}}
	for _, name := range []string{"a", "bad1", "bad2", "bad3", "bad4", "z"} {
		fsys.MapFS[name] = file(name)
	}
	for range 20 { // in case another worker comes first
		_, err := hashing.ReadTree(t.Context(), fsys)
		var refused *hashing.TreeError
		if !errors.As(err, &refused) || refused.Path != "bad1" || !errors.Is(err, fs.ErrPermission) {
			t.Fatalf("ReadTree: error %v, want fs.ErrPermission of bad1", err)
		}
	}
}
