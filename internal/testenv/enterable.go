package testenv

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// EnterableDir returns a temporary directory that other users can enter, as they can enter its
// parents. The test is skipped on systems other than Linux, where temporary directories are not below
// a sticky one.
func EnterableDir(t interface {
	Helper()
	TempDir() string
	Skip(args ...any)
	Fatal(args ...any)
}) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("temporary directories are private")
	}
	dir := t.TempDir()
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&fs.ModeSticky != 0 {
			break
		}
		if mode := info.Mode().Perm(); mode&0o011 != 0o011 {
			if err := os.Chmod(at, mode|0o011); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}
