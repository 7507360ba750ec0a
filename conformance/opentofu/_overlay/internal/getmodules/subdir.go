package getmodules

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
)

// SplitPackageSubdir splits an address into a package and a clean subdirectory.
func SplitPackageSubdir(given string) (packageAddr, subDir string) {
	packageAddr, subDir = addrs.SplitSubdir(given)
	if subDir != "" {
		subDir = path.Clean(subDir)
	}
	return packageAddr, subDir
}

// ExpandSubdirGlobs returns the one directory that matches a subdirectory.
func ExpandSubdirGlobs(instDir string, subDir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(instDir, filepath.FromSlash(subDir)))
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", fmt.Errorf("subdir %q not found", subDir)
	case len(found) > 1:
		return "", fmt.Errorf("subdir %q matches multiple paths", subDir)
	}
	return found[0], nil
}
