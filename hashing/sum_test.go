package hashing_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
)

// oddFS is a MapFS whose files are replaced by the ones that open returns.
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
