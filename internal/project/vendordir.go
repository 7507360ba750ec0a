package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// The names in the directory of vendored packages.
const (
	vendorRecordName = ownName + "/vendored" // the root module, and the packages that were written for it
	vendorSumsName   = ownName + "/sums"     // the per-file sums of the packages, by t1 hash
	attributesName   = ".gitattributes"

	// A process adds random text.
	vendorStagePrefix   = ownName + "/stage-"   // packages that are being written
	vendorRetiredPrefix = ownName + "/retired-" // packages that are being replaced or removed
)

// VendorDir is a directory of the user's repository with the packages of the lock of one root module,
// so that an installation needs no network. Each package is a directory that is named after the key
// of its call, such as "network.subnets". It is safe for concurrent use.
//
// A change is only made in a directory that does not exist, is empty, or has a record for the same root
// module, and only to packages that the record lists. Nothing in it is trusted: package packagedir
// compares the packages with the lock.
type VendorDir struct {
	name string // relative to the root module, with slashes
	path string
	root string // the path of the root module, relative to the directory, with slashes

	keepsModes func() bool
}

// VendorDirError says why a directory cannot be used for vendored packages.
type VendorDirError struct {
	// Name is the directory, or the part of its path that is invalid.
	Name string
	// Reason completes a sentence that begins with "it".
	Reason string
}

func (e *VendorDirError) Error() string {
	return fmt.Sprintf("%s cannot be the directory of vendored packages: it %s", e.Name, e.Reason)
}

// CheckVendorDir checks the name of a directory without access to the file system.
func CheckVendorDir(name string) error {
	clean := path.Clean(filepath.ToSlash(name))
	below := clean
	for strings.HasPrefix(below, "../") {
		below = below[len("../"):]
	}
	switch {
	case name == "" || path.IsAbs(clean) || below != ".." && !filepath.IsLocal(filepath.FromSlash(below)):
		return &VendorDirError{name, "is not a path relative to the root module"}
	case below == "." || below == "..":
		return &VendorDirError{name, "has the root module itself"}
	}
	if part := pathsafe.VersionControlPart(below); part != "" {
		return &VendorDirError{name, fmt.Sprintf("is inside %s, which is used for other files", part)}
	}
	for part := range strings.SplitSeq(below, "/") {
		if slices.Contains([]string{".terraform", ownName}, strings.ToLower(part)) {
			return &VendorDirError{name, fmt.Sprintf("is inside %s, which is used for other files", part)}
		}
	}
	return nil
}

// FindVendorDir returns the directory with a name relative to a root module's directory. It need not
// exist. dataDir is the stock tools' data directory. The error is a *[VendorDirError] in these cases:
//
//   - The directory is not in the root module's git repository or, if there is no repository, not
//     below the root module.
//   - The directory is or contains the root module, or overlaps with the data directory.
//   - A part of its path is a symbolic link or not a directory.
func FindVendorDir(rootDir, name, dataDir string) (*VendorDir, error) {
	if err := CheckVendorDir(name); err != nil {
		return nil, err
	}
	rootPath, err := pathsafe.Real(rootDir)
	if err != nil {
		return nil, err
	}
	full := filepath.Join(rootPath, filepath.FromSlash(name))
	repository := RepositoryDirs(rootPath)
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
		return nil, &VendorDirError{name, "is outside the repository"}
	case within(rootPath, full):
		return nil, &VendorDirError{name, "has the root module itself"}
	case within(full, dataPath) || within(dataPath, full):
		return nil, &VendorDirError{name, "overlaps with the data directory of stock tools"}
	}
	if err := refuseLinks(rootPath, full); err != nil {
		return nil, err
	}
	up, err := filepath.Rel(full, rootPath)
	if err != nil {
		return nil, err
	}
	d := &VendorDir{name: path.Clean(filepath.ToSlash(name)), path: full, root: filepath.ToSlash(up)}
	d.keepsModes = sync.OnceValue(func() bool { return keepsModes(os.Lstat(filepath.Join(full, filepath.FromSlash(vendorRecordName)))) })
	return d, nil
}

// refuseLinks returns an error if the path of a directory contains a link or a file, below the last
// directory that it has in common with the root module, whose path has no links.
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
			return &VendorDirError{at, "is a symbolic link"}
		case !info.IsDir():
			return &VendorDirError{at, "is not a directory"}
		}
	}
	return nil
}

func (d *VendorDir) Name() string { return d.name }

// PackageDir returns the path of a call's package as modules.json has it.
func (d *VendorDir) PackageDir(key string) string { return path.Join(d.name, key) }

func (d *VendorDir) PackagePath(key string) string { return filepath.Join(d.path, key) }

func (d *VendorDir) Path() string { return d.path }

// Keys returns the sorted names of the subdirectories that can be packages.
func (d *VendorDir) Keys() []string {
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

// IsVendorDir reports whether a directory was created for vendored packages of any root module.
func IsVendorDir(path string) bool {
	info, err := os.Lstat(filepath.Join(path, filepath.FromSlash(vendorRecordName)))
	return err == nil && info.Mode().IsRegular()
}

func (d *VendorDir) KeepsModes() bool { return d.keepsModes() }

// Sums is like [Project.Sums].
func (d *VendorDir) Sums(name string) ([]byte, error) {
	own, err := d.openOwn()
	if err != nil {
		return nil, err
	}
	defer own.Close()
	return atomicfile.Read(own, path.Join(path.Base(vendorSumsName), name), maxSums)
}

// openOwn opens .cotter, which must not be a link.
func (d *VendorDir) openOwn() (*os.Root, error) {
	name := filepath.Join(d.path, ownName)
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	return pathsafe.OpenRoot(name)
}

// within is [pathsafe.Within] for paths in the form of this system.
func within(name, dir string) bool {
	return pathsafe.Within(filepath.ToSlash(name), filepath.ToSlash(dir))
}
