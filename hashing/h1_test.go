package hashing_test

import (
	"bytes"
	"io"
	"testing"
	"testing/fstest"

	"golang.org/x/mod/sumdb/dirhash"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/hashing"
)

func TestH1LikeDirhash(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-c.-]{1,2}[a-cé]`)
	rapid.Check(t, func(rt *rapid.T) {
		fsys := fstest.MapFS{}
		for range rapid.IntRange(0, 8).Draw(rt, "files") {
			content := &fstest.MapFile{Data: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "content")}
			// Top-level names end in f, so they never equal the name of a directory.
			path := name.Draw(rt, "name") + "f"
			if rapid.Bool().Draw(rt, "nested") {
				path = name.Draw(rt, "dir") + "/" + path
			}
			fsys[path] = content
		}
		dir := onDisk(t, fsys)
		want, err := dirhash.HashDir(dir, "", dirhash.Hash1)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := hashing.Dir(t.Context(), dir); err != nil || string(got) != want {
			rt.Fatalf("Dir = %v, %v, want %v", got, err, want)
		}
	})
}

// TestH1OfLinks compares h1 with the result of dirhash for the files that this package includes.
func TestH1OfLinks(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"a/f": file("1"), "a/l": link("../b"), "b": executable("2"), "to-a": link("a"), "void": emptyDir()}
	content := map[string]string{"a/f": "1", "a/l": "2", "b": "2"}
	want, err := dirhash.Hash1([]string{"b", "a/l", "a/f"}, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(content[name]))), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hashing.FS(fsys); err != nil || string(got) != want {
		t.Errorf("FS = %v, %v, want %v", got, err, want)
	}
}
