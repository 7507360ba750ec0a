// Package gettertest supports the tests of getters. It fetches packages and checks that a failed
// fetch leaves no files.
package gettertest

import (
	"archive/zip"
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

// Fetch fetches a package to a new directory in the empty directory outside, and returns its
// files. It reports an error of the test if outside has anything else afterwards.
func Fetch(ctx context.Context, t testing.TB, f *getmodules.Fetcher, outside string, req getmodules.Request) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	req.Dir = filepath.Join(outside, "package")
	pkg, err := f.Fetch(ctx, req)
	left, readErr := os.ReadDir(outside)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if err != nil {
		if len(left) != 0 {
			t.Errorf("after an error the directory has %v", left)
		}
		return nil, nil, err
	}
	if len(left) != 1 {
		t.Errorf("the directory has more than the package: %v", left)
	}
	return Files(t, req.Dir), pkg, nil
}

// Files returns the contents of the files in a directory by path. For a link, the content is
// "link:" followed by its target.
func Files(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			target, err := fs.ReadLink(root, name)
			got[name] = "link:" + target
			return err
		}
		text, err := fs.ReadFile(root, name)
		got[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Zip returns a zip archive of the files.
func Zip(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
