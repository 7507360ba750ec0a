package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// diskFull is for a file system without space, or an exceeded quota.
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
	return &problem{text: what, instead: true, remedies: do("Free some space there, for example with `cotter cache clean`, and run the command again.")}
}

func isFullOnWindows(err error) bool {
	const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
	return runtime.GOOS == "windows" && (errors.Is(err, handleDiskFull) || errors.Is(err, diskFull))
}

// fullPlace names the project's .terraform, the cache, or the directory of the file: a run writes many below.
func fullPlace(name string) string {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts {
		if part == ".terraform" || strings.HasPrefix(part, "cotter") {
			return strings.Join(parts[:i+1], "/")
		}
	}
	return filepath.ToSlash(filepath.Dir(name))
}
