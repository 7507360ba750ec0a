package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestReadUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "short"), "abc")
	write(t, filepath.Join(dir, "full"), "abcd")
	write(t, filepath.Join(dir, "long"), "abcde")
	for name, test := range map[string]struct {
		want, fails string
		absent      bool
	}{
		"short":      {want: "abc"},
		"full":       {want: "abcd"},
		"long":       {fails: "larger than 4 bytes"},
		os.DevNull:   {want: ""},
		".":          {fails: "neither a file nor a pipe"},
		"missing":    {fails: "no such file", absent: true},
		"short/file": {fails: "not a directory", absent: true},
	} {
		if runtime.GOOS == "windows" && test.absent {
			test.fails = "cannot find" // Windows has the same message for both
		}
		path := name
		if !filepath.IsAbs(name) && name != os.DevNull {
			path = filepath.Join(dir, name)
		}
		src, err := atomicfile.ReadUser(t.Context(), path, 4)
		if string(src) != test.want || (err == nil) != (test.fails == "") || atomicfile.IsAbsent(err) != test.absent {
			t.Errorf("Read(%q) = %q, %v; Absent = %v; want %q, %q, %v", name, src, err, atomicfile.IsAbsent(err), test.want, test.fails, test.absent)
		}
		if err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("Read(%q): %v, want %q", name, err, test.fails)
		}
	}
}

// TestIsAbsent distinguishes a file that cannot be read from a file in a directory that cannot be
// searched.
func TestIsAbsent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		op   string
		err  error
		want bool
	}{
		{"stat", fs.ErrPermission, true},
		{"open", fs.ErrPermission, false},
		{"open", fs.ErrNotExist, true},
		{"read", os.ErrDeadlineExceeded, false},
	} {
		err := &fs.PathError{Op: test.op, Path: "x", Err: test.err}
		if got := atomicfile.IsAbsent(err); got != test.want {
			t.Errorf("Absent(%v) = %v, want %v", err, got, test.want)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	testenv.Must(t, os.WriteFile(name, []byte(text), 0o600))
}
