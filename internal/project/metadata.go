package project

import (
	"fmt"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/pathsafe"
)

// MetadataError says that a file or directory of a project would be in the metadata of version
// control, such as .git. A repository's own settings could otherwise make Cotter overwrite files
// that git reads, and with them the programs that git runs.
type MetadataError struct {
	// What describes the file or directory: "the lock file".
	What string
	// Path is its path. Part is the component of the path that is the name of
	// metadata, after links in the path have been followed.
	Path, Part string
}

func (e *MetadataError) Error() string {
	return fmt.Sprintf("%s %q is in %q, which belongs to version control", e.What, e.Path, e.Part)
}

// check returns a *[MetadataError] if a path of the location is in the metadata of version
// control, also through links. Directories above the root module do not matter.
func (l Location) check() error {
	root, err := filepath.Abs(l.Dir)
	if err != nil {
		return err
	}
	for _, place := range []struct{ what, path string }{
		{"the lock file", filepath.Join(l.Dir, l.LockFile)},
		{"the data directory", l.DataDir},
		{"the directory of modules", filepath.Join(l.DataDir, "modules")},
		{"the directory of providers", filepath.Join(l.DataDir, "providers")},
	} {
		name, err := filepath.Abs(place.path)
		if err != nil {
			return err
		}
		part := metadataBelow(root, name)
		if part == "" {
			part = metadataBelow(resolve(root), resolve(name))
		}
		if part != "" {
			return &MetadataError{What: place.what, Path: place.path, Part: part}
		}
	}
	return nil
}

// metadataBelow returns the component that is the name of metadata in the path from one absolute
// path to another, or "".
func metadataBelow(root, name string) string {
	if below, err := filepath.Rel(root, name); err == nil {
		name = below
	}
	return pathsafe.VersionControlPart(name)
}

// resolve returns an absolute path without links. The part that does not exist, or that cannot be
// followed, stays as it is.
func resolve(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	dir := filepath.Dir(name)
	if dir == name {
		return name
	}
	return filepath.Join(resolve(dir), filepath.Base(name))
}
