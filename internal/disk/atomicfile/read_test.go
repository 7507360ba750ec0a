package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestRead(t *testing.T) {
	t.Parallel()
	root, dir := openRoot(t)
	testenv.WriteFiles(t, dir, map[string]string{"empty": "", "small": "12345", "full": "1234567890", "large": "12345678901"})
	testenv.Must(t, errors.Join(os.Mkdir(filepath.Join(dir, "dir"), 0o700), os.Symlink("small", filepath.Join(dir, "link"))))
	tests := []struct {
		name, want string
		err        error
	}{
		{"empty", "", nil},
		{"small", "12345", nil},
		{"full", "1234567890", nil},
		{"large", "", atomicfile.ErrTooLarge},
		{"absent", "", fs.ErrNotExist},
		{"dir", "", atomicfile.ErrIrregular},
		{"link", "", atomicfile.ErrIrregular},
	}
	for _, tt := range tests {
		got, err := atomicfile.Read(root, tt.name, 10)
		if !errors.Is(err, tt.err) || string(got) != tt.want {
			t.Errorf("Read(%q) = %q, %v; want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
		if tt.err == nil && got == nil {
			t.Errorf("Read(%q) = nil, want an empty slice", tt.name)
		}
		file, err := atomicfile.Open(root, tt.name, 10)
		if !errors.Is(err, tt.err) {
			t.Errorf("Open(%q) = %v; want %v", tt.name, err, tt.err)
		}
		if err == nil {
			testenv.Must(t, file.Close())
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	root, dir := openRoot(t)
	testenv.Must(t, atomicfile.Create(root, "f", []byte("first"), 0o600, "test"))
	if err := atomicfile.Create(root, "f", []byte("second"), 0o600, "test"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of what exists = %v, want fs.ErrExist", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "first" {
		t.Errorf("the file has %q, %v", got, err)
	}
}

// A replacement that is prepared but not committed does not change the target. Temporary files of
// a crash are removed, and other files are not.
func TestPrepareAndSweep(t *testing.T) {
	t.Parallel()
	root, dir := openRoot(t)
	for _, name := range []string{"f", ".f.tmp", ".f.short.tmp", ".other.ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp"} {
		testenv.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600))
	}
	if _, err := atomicfile.Prepare(root, "f", []byte("new"), atomicfile.Options{}); err != nil {
		t.Fatal(err)
	}
	atomicfile.Sweep(root, "f")
	entries, err := os.ReadDir(dir)
	testenv.Must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if diff := cmp.Diff([]string{".f.short.tmp", ".f.tmp", ".other.ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp", "f"}, names); diff != "" {
		t.Errorf("after Sweep (-want +got):\n%s", diff)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "old" {
		t.Errorf("the file has %q, %v", got, err)
	}
}
