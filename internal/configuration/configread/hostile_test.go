//go:build unix

package configread_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestIrregularFiles reads directories in which a configuration file is not a regular file.
// Opening a pipe must not wait for a writer.
func TestIrregularFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		make func(name string) error
		want string // a part of the detail
	}{
		"pipe":             {func(name string) error { return syscall.Mkfifo(name, 0o644) }, "not a regular file"},
		"link to device":   {func(name string) error { return os.Symlink("/dev/zero", name) }, "not a regular file"},
		"link to nothing":  {func(name string) error { return os.Symlink("nothing", name) }, "no such file"},
		"link to itself":   {func(name string) error { return os.Symlink(filepath.Base(name), name) }, "too many levels"},
		"link to dir":      {func(name string) error { return os.Symlink(".", name) }, "not a regular file"},
		"large":            {func(name string) error { return os.WriteFile(name, make([]byte, 32<<20+1), 0o644) }, "larger than 32 MiB"},
		"large and sparse": {sparse, "larger than 32 MiB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, "a.tf"), call("a"))
			testenv.Must(t, test.make(filepath.Join(dir, "x.tf")))
			m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir, Display: "."})
			if len(m.Calls) != 1 || len(diags) != 1 {
				t.Fatalf("Read = %v, %v, want one call and one error", m.Calls, diags)
			}
			if got := diags[0]; got.Subject.Filename != "x.tf" || !strings.Contains(got.Detail, test.want) {
				t.Errorf("diagnostic = %v, want x.tf and %q in it", got, test.want)
			}
		})
	}
}

// sparse creates a file of 5 GiB that takes no disk space.
func sparse(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(5<<30), f.Close())
}

// TestLinksOfPackage follows links inside a package, but not out of it.
func TestLinksOfPackage(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	testenv.WriteFile(t, filepath.Join(base, "outside.tf"), call("outside"))
	pkg := filepath.Join(base, "pkg")
	testenv.WriteFile(t, filepath.Join(pkg, "shared/shared.tf"), call("shared"))
	tests := map[string]struct {
		target string
		want   string // the expected call; "" for an error
	}{
		"inside":       {"../shared/shared.tf", "shared"},
		"outside":      {"../../outside.tf", ""},
		"absolute":     {filepath.Join(base, "outside.tf"), ""},
		"there & back": {"../../pkg/shared/shared.tf", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(pkg, name)
			testenv.Must(t, os.Mkdir(dir, 0o755))
			testenv.Must(t, os.Symlink(test.target, filepath.Join(dir, "main.tf")))
			bounded, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir, Files: project.FilesIn(pkg), Subdir: name})
			if got := callNames(bounded); got != test.want || diags.HasErrors() != (test.want == "") {
				t.Errorf("Read in a package = %q, %v, want %q", got, diags, test.want)
			}
			// The user's own links may point anywhere.
			if own, diags := (configread.Reader{}).Read(t.Context(), configread.Dir{Path: dir}); diags.HasErrors() || len(own.Calls) != 1 {
				t.Errorf("Read of the user's own module = %v, %v, want one call", own.Calls, diags)
			}
		})
	}
}

func TestDirectoryOutsideOfPackage(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	testenv.WriteFile(t, filepath.Join(base, "outside/main.tf"), call("outside"))
	testenv.Must(t, os.MkdirAll(filepath.Join(base, "pkg"), 0o755))
	testenv.Must(t, os.Symlink("../outside", filepath.Join(base, "pkg/link")))
	dir := configread.Dir{Path: filepath.Join(base, "pkg/link"), Files: project.FilesIn(filepath.Join(base, "pkg")), Subdir: "link"}
	if m, diags := (configread.Reader{}).Read(t.Context(), dir); !diags.HasErrors() || len(m.Calls) != 0 {
		t.Errorf("Read(%+v) = %v, %v, want an error", dir, m.Calls, diags)
	}
}

func TestTotalSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const files = 65 // of 4 MiB each; 16 are allowed in a package, and 64 in the user's own module
	testenv.WriteFile(t, filepath.Join(dir, "00.tf"), strings.Repeat("#", 4<<20))
	for i := range files - 1 {
		testenv.Must(t, os.Link(filepath.Join(dir, "00.tf"), filepath.Join(dir, "1"+strings.Repeat("0", i)+".tf")))
	}
	for want, at := range map[string]configread.Dir{"64 MiB together": {Path: dir, Files: os.DirFS(dir), Subdir: "."}, "256 MiB together": {Path: dir}} {
		if _, diags := (configread.Reader{}).Read(t.Context(), at); len(diags) == 0 || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("Read = %v, want errors, the first with %q", diags, want)
		}
	}
	testenv.WriteFile(t, filepath.Join(dir, "00.tf"), strings.Repeat("#", 4<<20+1))
	if _, diags := (configread.Reader{}).Read(t.Context(), configread.Dir{Path: dir, Files: os.DirFS(dir), Subdir: "."}); len(diags) == 0 || !strings.Contains(diags[0].Detail, "larger than 4 MiB") {
		t.Errorf("Read = %v, want an error about the size of a file", diags)
	}
}
