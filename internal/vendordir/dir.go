package vendordir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/store"
)

// Dir is the directory with the vendored packages of one root module. It is safe for concurrent
// use.
type Dir struct {
	name string // relative to the root module, with slashes
	path string
	root string // the path of the root module, relative to the directory, with slashes

	keepsModes func() bool
	trees      singleflight.Memo[string, *store.Tree]
	sums       singleflight.Memo[hashing.Hash, *store.Tree]
}

// PlaceError is the error for a directory that cannot be used for vendored packages.
type PlaceError struct {
	// Name is the invalid directory, or the invalid part of its path.
	Name string
	// Reason completes a sentence that begins with "it".
	Reason string
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("%s cannot be the directory of vendored packages: it %s", e.Name, e.Reason)
}

// CheckName checks the name of a directory, which is relative to a root module. It does not
// access the file system.
func CheckName(name string) error {
	clean := path.Clean(filepath.ToSlash(name))
	below := clean
	for strings.HasPrefix(below, "../") {
		below = below[len("../"):]
	}
	switch {
	case name == "" || path.IsAbs(clean) || below != ".." && !filepath.IsLocal(filepath.FromSlash(below)):
		return &PlaceError{name, "is not a path relative to the root module"}
	case below == "." || below == "..":
		return &PlaceError{name, "has the root module itself"}
	}
	if part := pathsafe.VersionControlPart(below); part != "" {
		return &PlaceError{name, fmt.Sprintf("is inside %s, which is used for other files", part)}
	}
	for part := range strings.SplitSeq(below, "/") {
		if slices.Contains([]string{".terraform", ownName}, strings.ToLower(part)) {
			return &PlaceError{name, fmt.Sprintf("is inside %s, which is used for other files", part)}
		}
	}
	return nil
}

// Open returns the directory with a name relative to a root module's directory. The directory
// need not exist. dataDir is the path of the stock tools' data directory. The error is a
// *[PlaceError] in these cases:
//
//   - The directory is not in the root module's git repository or, if there is no repository, not
//     below the root module.
//   - The directory is or contains the root module, or overlaps with the data directory.
//   - A part of its path is a symbolic link or not a directory.
func Open(rootDir, name, dataDir string) (*Dir, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	rootPath, err := realPath(rootDir)
	if err != nil {
		return nil, err
	}
	full := filepath.Join(rootPath, filepath.FromSlash(name))
	repository := project.RepositoryDirs(rootPath)
	top := repository[len(repository)-1]
	dataPath, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dataPath); err == nil {
		dataPath = real
	}
	switch {
	case full == top || !within(full, top):
		return nil, &PlaceError{name, "is outside the repository"}
	case within(rootPath, full):
		return nil, &PlaceError{name, "has the root module itself"}
	case within(full, dataPath) || within(dataPath, full):
		return nil, &PlaceError{name, "overlaps with the data directory of stock tools"}
	}
	if err := refuseLinks(rootPath, full); err != nil {
		return nil, err
	}
	up, err := filepath.Rel(full, rootPath)
	if err != nil {
		return nil, err
	}
	d := &Dir{name: path.Clean(filepath.ToSlash(name)), path: full, root: filepath.ToSlash(up)}
	d.keepsModes = sync.OnceValue(d.probeModes)
	return d, nil
}

// refuseLinks returns an error if the path of a directory contains a link or a file. It checks
// the part below the last directory that it has in common with the root module, whose path has no
// links.
func refuseLinks(rootPath, full string) error {
	at := rootPath
	for !within(full, at) {
		at = filepath.Dir(at)
	}
	rest := strings.TrimPrefix(full[len(at):], string(filepath.Separator))
	for part := range strings.SplitSeq(rest, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode().Type() == fs.ModeSymlink:
			return &PlaceError{at, "is a symbolic link"}
		case !info.IsDir():
			return &PlaceError{at, "is not a directory"}
		}
	}
	return nil
}

// Name returns the directory's path relative to the root module, with slashes.
func (d *Dir) Name() string { return d.name }

// PackageDir returns the path of a call's package relative to the root module, in the form that
// modules.json has.
func (d *Dir) PackageDir(key string) string { return path.Join(d.name, key) }

// PackagePath returns the path by which this process accesses a call's package.
func (d *Dir) PackagePath(key string) string { return filepath.Join(d.path, key) }

// Path returns the path by which this process accesses the directory.
func (d *Dir) Path() string { return d.path }

// Keys returns the sorted names of the subdirectories that can be packages, which are those that
// do not begin with a dot. It returns nil if the directory does not exist.
func (d *Dir) Keys() []string {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil
	}
	var keys []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			keys = append(keys, entry.Name())
		}
	}
	return keys
}

// IsDir reports whether a directory was created for the vendored packages of any root module.
func IsDir(path string) bool {
	info, err := os.Lstat(filepath.Join(path, filepath.FromSlash(recordName)))
	return err == nil && info.Mode().IsRegular()
}

// KeepsModes reports whether the file system stores executable bits.
func (d *Dir) KeepsModes() bool { return d.keepsModes() }

func (d *Dir) probeModes() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	info, err := os.Lstat(filepath.Join(d.path, filepath.FromSlash(recordName))) // never made executable
	return err != nil || info.Mode().Perm()&0o111 == 0
}

// realPath returns the absolute path of a directory without symbolic links.
func realPath(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(absolute)
}

// within is [pathsafe.Within] for paths in the form of this system.
func within(name, dir string) bool {
	return pathsafe.Within(filepath.ToSlash(name), filepath.ToSlash(dir))
}
