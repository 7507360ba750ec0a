package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/google/go-cmp/cmp"
)

func openRoot(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func TestWrite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		old  []byte // nil: absent
		opts atomicfile.Options
		want error
	}{
		{"new", nil, atomicfile.Options{}, nil},
		{"replace", []byte("old"), atomicfile.Options{}, nil},
		{"swap", []byte("old"), atomicfile.Options{Swap: true, Old: []byte("old")}, nil},
		{"swap absent", nil, atomicfile.Options{Swap: true}, nil},
		{"swap empty", []byte{}, atomicfile.Options{Swap: true, Old: []byte{}}, nil},
		{"changed", []byte("odd"), atomicfile.Options{Swap: true, Old: []byte("old")}, atomicfile.ErrChanged},
		{"grown", []byte("older"), atomicfile.Options{Swap: true, Old: []byte("old")}, atomicfile.ErrChanged},
		{"vanished", nil, atomicfile.Options{Swap: true, Old: []byte("old")}, atomicfile.ErrChanged},
		{"empty vanished", nil, atomicfile.Options{Swap: true, Old: []byte{}}, atomicfile.ErrChanged},
		{"appeared", []byte{}, atomicfile.Options{Swap: true}, atomicfile.ErrChanged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, dir := openRoot(t)
			if tt.old != nil {
				testenv.Must(t, os.WriteFile(filepath.Join(dir, "f"), tt.old, 0o600))
			}
			err := atomicfile.Write(root, "f", []byte("new"), tt.opts)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Write = %v, want %v", err, tt.want)
			}
			want := tt.old
			if tt.want == nil {
				want = []byte("new")
			}
			got, err := os.ReadFile(filepath.Join(dir, "f"))
			if err != nil && want != nil || string(got) != string(want) {
				t.Errorf("file holds %q, %v, want %q", got, err, want)
			}
			assertNoTemp(t, dir)
		})
	}
}

func assertNoTemp(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	if err != nil || len(left)+len(hidden) > 0 {
		t.Errorf("temporary files left: %v %v, %v", left, hidden, err)
	}
}

func TestWriteModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	root, dir := openRoot(t)
	testenv.Must(t, os.WriteFile(filepath.Join(dir, "old"), nil, 0o600))
	got := map[string]fs.FileMode{}
	for _, name := range []string{"old", "new"} {
		testenv.Must(t, atomicfile.Write(root, name, []byte("x"), atomicfile.Options{}))
		info, err := root.Stat(name)
		testenv.Must(t, err)
		got[name] = info.Mode()
	}
	if diff := cmp.Diff(map[string]fs.FileMode{"old": 0o600, "new": 0o644}, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

func TestWriteRefusesIrregularTargets(t *testing.T) {
	t.Parallel()
	root, dir := openRoot(t)
	outside := filepath.Join(t.TempDir(), "victim")
	testenv.Must(t, os.WriteFile(outside, []byte("safe"), 0o644))
	testenv.Must(t, os.WriteFile(filepath.Join(dir, "inside"), []byte("safe"), 0o644))
	for name, target := range map[string]string{"out": outside, "in": "inside", "dangling": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("this system makes no symbolic links: %v", err)
		}
	}
	testenv.Must(t, os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	for _, name := range []string{"out", "in", "dangling", "dir"} {
		err := atomicfile.Write(root, name, []byte("new"), atomicfile.Options{})
		if !errors.Is(err, atomicfile.ErrIrregular) {
			t.Errorf("Write(%q) = %v, want ErrIrregular", name, err)
		}
	}
	for _, name := range []string{outside, filepath.Join(dir, "inside")} {
		if got, err := os.ReadFile(name); string(got) != "safe" {
			t.Errorf("link's target holds %q, %v", got, err)
		}
	}
	assertNoTemp(t, dir)
}

func TestWriteInSubdirectory(t *testing.T) {
	t.Parallel()
	root, dir := openRoot(t)
	testenv.Must(t, root.Mkdir("sub", 0o755))
	if err := atomicfile.Write(root, "sub/f", []byte("x"), atomicfile.Options{}); err != nil {
		t.Errorf("Write(sub/f) = %v", err)
	}
	err := atomicfile.Write(root, "absent/f", []byte("x"), atomicfile.Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Write(absent/f) = %v, want fs.ErrNotExist", err)
	}
	if err := atomicfile.Write(root, "../f", []byte("x"), atomicfile.Options{}); err == nil {
		t.Errorf("Write(../f) = nil, want an error")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "f")); err == nil {
		t.Errorf("wrote outside of the root")
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, "sub", "g"), []byte("x"), atomicfile.Options{}); err != nil {
		t.Errorf("WriteFile = %v", err)
	}
	assertNoTemp(t, filepath.Join(dir, "sub"))
}
