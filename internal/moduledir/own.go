package moduledir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/opendir"
)

// Own finds a module directory among the user's own files, which may be anywhere. written is its
// path relative to the root module's directory, with forward slashes. It returns the directory in
// the form that stock tools record, because path.module is this form: without symbolic links,
// relative to the root module, with forward slashes. path is the path by which this process
// accesses the directory.
func Own(rootDir, written string) (dir, path string, err error) {
	base, err := filepath.EvalSymlinks(rootDir)
	if err != nil {
		return "", "", err
	}
	real, err := opendir.Resolve(base, filepath.FromSlash(written))
	if err != nil {
		return "", "", unreadable(written, err)
	}
	path = opendir.Inside(base, real)
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return "", "", unreadable(written, err)
	}
	return filepath.ToSlash(real), path, nil
}

func unreadable(dir string, cause error) error {
	if cause == nil {
		return fmt.Errorf("unreadable module directory: %q is not a directory", dir)
	}
	if errors.Is(cause, fs.ErrNotExist) {
		return fmt.Errorf("unreadable module directory: %q does not exist: %w", dir, fs.ErrNotExist)
	}
	return fmt.Errorf("unreadable module directory: %w", cause)
}
