package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// diskFull returns the wording for an error of a file system that has no space left, or whose quota
// is exceeded. It returns nil for other errors.
func diskFull(err error) *problem {
	what := "no space is left on the disk"
	switch {
	case errors.Is(err, syscall.EDQUOT):
		what = "the disk quota is exceeded"
	case errors.Is(err, syscall.ENOSPC), isFullOnWindows(err):
	case strings.Contains(err.Error(), "No space left on device"): // git's text
	default:
		return nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		what += " of " + fullPlace(at.Path)
	}
	return &problem{error: &fullDisk{fact(what)}, instead: true}
}

func isFullOnWindows(err error) bool {
	const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
	return runtime.GOOS == "windows" && (errors.Is(err, handleDiskFull) || errors.Is(err, diskFull))
}

// fullPlace returns the directory to name for a path that could not be written: the project's
// .terraform, the cache, or the directory of the file. A run writes many files below it.
func fullPlace(name string) string {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts {
		if part == ".terraform" || strings.HasPrefix(part, "cotter") {
			return strings.Join(parts[:i+1], "/")
		}
	}
	return filepath.ToSlash(filepath.Dir(name))
}
