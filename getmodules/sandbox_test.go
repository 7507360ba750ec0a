package getmodules_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

// sandbox is a directory for the result of a fetch, next to a canary file. When the test
// ends, it checks that nothing was written outside the result and that the canary is
// unchanged.
type sandbox struct{ outside, dir string }

func newSandbox(t testing.TB) sandbox {
	t.Helper()
	s := sandbox{outside: t.TempDir()}
	s.dir = filepath.Join(s.outside, "package")
	writeFile(t, filepath.Join(s.outside, "canary"), "alive")
	t.Cleanup(func() {
		got := tree(t, s.outside)
		for name := range got {
			if name == "package" || strings.HasPrefix(name, "package/") {
				delete(got, name)
			}
		}
		if diff := cmp.Diff(map[string]string{"canary": "alive"}, got); diff != "" {
			t.Errorf("outside of the package (-want +got):\n%s", diff)
		}
	})
	return s
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree returns the contents of a directory by path: the text of a file, with the prefix
// "exec:" if it is executable; "dir" for a directory; and "link:target" for a link.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		got[filepath.ToSlash(rel)], err = describeEntry(name, d)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func describeEntry(name string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		return "dir", nil
	case fs.ModeSymlink:
		target, err := os.Readlink(name)
		return "link:" + target, err
	case 0:
		text, err := os.ReadFile(name)
		if info.Mode()&0o100 != 0 {
			return "exec:" + string(text), err
		}
		return string(text), err
	}
	return "", fmt.Errorf("%s is a %v", name, info.Mode())
}

// extract unpacks an archive in a sandbox. After an error, it checks that nothing is left
// and returns a nil map.
func extract(t testing.TB, kind string, archive []byte, limits getmodules.Limits) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	box := newSandbox(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(archive); err != nil {
		t.Fatal(err)
	}
	pkg, err := getmodules.ExtractArchive(t.Context(), file, kind, box.dir, limits)
	if err == nil {
		return tree(t, box.dir), pkg, nil
	}
	var fetch *getmodules.FetchError
	if !errors.As(err, &fetch) {
		t.Errorf("error %v is no *FetchError", err)
	}
	if _, err := os.Lstat(box.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after an error the directory is left: %v", err)
	}
	return nil, nil, err
}

func wantRefused(t testing.TB, what string, err error) {
	t.Helper()
	for _, reason := range []error{
		getmodules.ErrNotArchive, getmodules.ErrUnsafeArchive, getmodules.ErrUnsafeEntry,
		getmodules.ErrEmpty, getmodules.ErrTooLarge, getmodules.ErrUnsupportedArchive,
	} {
		if errors.Is(err, reason) {
			return
		}
	}
	t.Errorf("%s: error is %v, want one of the reasons to refuse", what, err)
}
