package hashing_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
)

func TestReadTreeLists(t *testing.T) {
	t.Parallel()
	tree := readTree(t, fstest.MapFS{
		"a/z":         file("1"),
		"a.b":         exec600("2"),
		"a-b":         executable("3"),
		"d/.git/HEAD": file("4"),
		"e":           emptyDir(),
		"f/g":         emptyDir(),
		"l":           link("a/z"),
		".git":        link("nowhere"),
		".hg":         {Mode: fs.ModeNamedPipe},
	})
	want := []string{
		"executable file a-b", "executable file a.b", "file a/z", "empty directory d", "empty directory e",
		"empty directory f/g", "link l a/z",
	}
	if diff := cmp.Diff(want, paths(tree)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if l := tree.Entries[6]; l.Sum != tree.Entries[2].Sum || l.Size != 0 {
		t.Errorf("the link has sum %x and size %d, want the sum of its file and 0", l.Sum, l.Size)
	}
}

// exec600 returns a file that only its owner may execute.
func exec600(content string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(content), Mode: 0o700}
}

func TestExecutableByOwner(t *testing.T) {
	t.Parallel()
	tree := readTree(t, fstest.MapFS{"group": {Mode: 0o611}, "owner": {Mode: 0o700}})
	if diff := cmp.Diff([]string{"file group", "executable file owner"}, paths(tree)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
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
		"newline":          {"a\nb", file(""), "control character"},
		"tab":              {"a\tb", file(""), "control character"},
		"escape":           {"d/\x1b[31m/x", file(""), "control character"},
		"C1":               {"a\u0085", file(""), "control character"},
		"DEL":              {"a\x7f", file(""), "control character"},
		"long path":        {strings.Repeat("d/", 2048) + "f", file(""), "longer than 4096 bytes"},
		"bad UTF-8":        {"d/a\xff", file(""), "not valid UTF-8"},
		"bad name of link": {"a\r", link("x"), "control character"},
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
	if err := os.Symlink(dir, byLink); err != nil {
		t.Fatal(err)
	}
	want, err := hashing.Dir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hashing.Dir(t.Context(), byLink); err != nil || got != want {
		t.Errorf("Dir by a link = %v, %v, want %v", got, err, want)
	}
}
