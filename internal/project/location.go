package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// Location says where the files of a project are.
type Location struct {
	Dir string
	// DataDir is the path of the stock tools' data directory, usually Dir/.terraform.
	DataDir string
	// ModulesDir is the modules directory; "" means "modules" in DataDir.
	ModulesDir string
	// LockFile is relative to Dir, or absolute. A path that is not below Dir may be on any file system.
	LockFile string
	// NoLockFile says that the caller keeps the lock, if there is one: [Change].OldLock and NewLock are
	// only compared and copied. LockFile is ignored.
	NoLockFile bool
}

func (l Location) lockPath() string {
	if filepath.IsAbs(l.LockFile) {
		return l.LockFile
	}
	return filepath.Join(l.Dir, l.LockFile)
}

func (l Location) Modules() string {
	if l.ModulesDir != "" {
		return l.ModulesDir
	}
	return filepath.Join(l.DataDir, "modules")
}

// The names inside the modules directory. Stock tools know modules.json, and the directories of calls.
const (
	manifestName = "modules.json"
	ownName      = ".cotter"

	flockName    = ownName + "/lock"     // locked by the process that changes the directory
	stageName    = ownName + "/stage"    // packages to be installed, read by one process only
	journalName  = ownName + "/journal"  // the change in progress; sealed
	retiredName  = ownName + "/retired"  // replaced files and packages, until the change is complete
	treesName    = ownName + "/tree"     // whole packages to which calls link
	sumsName     = ownName + "/sums"     // the per-file sums of installed packages, by t1 hash
	lockCopyName = ownName + "/lock.hcl" // the lock as the last run wrote it, with evidence; sealed
)

// Maximum sizes in bytes of the files that are read here, besides [MaxManifest]: the limit of package
// lockfile, the line of a seal, and sums, which take about 150 bytes for each of at most 1,000,000 entries of a package.
const (
	maxLock = 32 << 20
	maxSeal = 128
	maxSums = 256 << 20
)

// readOptional returns nil if the file does not exist, but not for an empty file.
func readOptional(root *os.Root, name string, limit int64) ([]byte, error) {
	src, err := atomicfile.Read(root, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// MetadataError says that a file or directory of a project would be in the metadata of version
// control, such as .git. A repository's own settings could otherwise make Cotter overwrite files
// that git reads, and with them the programs that git runs.
type MetadataError struct {
	What string // "the lock file"
	// Part is the component of Path that is the name of metadata, after links have been followed.
	Path, Part string
}

func (e *MetadataError) Error() string {
	return fmt.Sprintf("%s %q is in %q, which belongs to version control", e.What, e.Path, e.Part)
}

func (e *MetadataError) Unwrap() error { return ErrMetadata }

var ErrMetadata = errors.New("it is in the metadata of version control")

// check returns a *[MetadataError] if a path of the location is in the metadata of version
// control, also through links. Directories above the root module do not matter.
func (l Location) check() error {
	root, err := filepath.Abs(l.Dir)
	if err != nil {
		return err
	}
	followed := make(links)
	for _, file := range []struct{ what, path string }{
		{"the lock file", l.lockPath()},
		{"the data directory", l.DataDir},
		{"the directory of modules", l.Modules()},
		{"the directory of providers", filepath.Join(l.DataDir, "providers")},
	} {
		name, err := filepath.Abs(file.path)
		if err != nil {
			return err
		}
		part := metadataBelow(root, name)
		if part == "" {
			part = metadataBelow(followed.resolve(root), followed.resolve(name))
		}
		if part != "" {
			return &MetadataError{What: file.what, Path: file.path, Part: part}
		}
	}
	return nil
}

// metadataBelow returns the component that is the name of metadata in a path below root, or "".
func metadataBelow(root, name string) string {
	if below, err := filepath.Rel(root, name); err == nil {
		name = below
	}
	return pathsafe.VersionControlPart(name)
}

// links has the paths without links of those that were resolved, which share most of their directories.
type links map[string]string

// resolve returns an absolute path without links. What does not exist or cannot be followed stays.
func (l links) resolve(name string) string {
	if real, ok := l[name]; ok {
		return real
	}
	real := name
	if dir := filepath.Dir(name); dir != name {
		real = filepath.Join(l.resolve(dir), filepath.Base(name))
		if mayBeLink(real) {
			if followed, err := filepath.EvalSymlinks(real); err == nil {
				real = followed
			}
		}
	}
	l[name] = real
	return real
}

// mayBeLink reports whether a path in a directory without links may have another name, which on Windows is also the
// case for short names such as "GIT~1".
func mayBeLink(name string) bool {
	if runtime.GOOS == "windows" {
		return true
	}
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
