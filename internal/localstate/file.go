package localstate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// maxSize is the maximum size of a state file in bytes. Large projects have states of some 100
// MB.
const maxSize = 1 << 30

// errKernel says that a file is not on a disk: its content is made when it is read, and may
// describe this process or never end.
var errKernel = errors.New("it is a file of the operating system")

// open opens a state file, whose name is absolute or relative to the root module's directory.
// outside reports whether the file is outside of this directory, after all links are followed. If
// the file does not exist, the error wraps fs.ErrNotExist.
func (p Project) open(name string) (file *os.File, outside bool, err error) {
	name, err = filepath.Abs(pathsafe.Inside(p.Dir, filepath.FromSlash(name)))
	if err == nil && !isOfKernel(name) {
		name, err = filepath.EvalSymlinks(name)
	}
	switch {
	case err != nil:
		return nil, false, err
	case isOfKernel(name):
		return nil, true, errKernel
	}
	file, err = openRegular(filepath.Dir(name), filepath.Base(name), maxSize)
	return file, p.isOutside(name), err
}

func isOfKernel(name string) bool {
	return strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/")
}

func openRegular(dir, name string, limit int64) (*os.File, error) {
	opened, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return atomicfile.Open(opened, name, limit)
}

func (p Project) isOutside(name string) bool {
	dir, err := pathsafe.Real(p.Dir)
	rel, relErr := filepath.Rel(dir, name)
	return err != nil || relErr != nil || !filepath.IsLocal(rel)
}

func reason(err error) string {
	switch {
	case errors.Is(err, errKernel):
		return fmt.Sprintf(": %s", errKernel)
	case errors.Is(err, atomicfile.ErrIrregular):
		return ": it is not a regular file"
	case errors.Is(err, atomicfile.ErrTooLarge):
		return fmt.Sprintf(": it is larger than %d MiB", maxSize>>20)
	case errors.Is(err, os.ErrPermission):
		return ": permission denied"
	}
	return ""
}
