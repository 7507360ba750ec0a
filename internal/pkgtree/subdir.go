package pkgtree

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// ErrNoSubdir says that a package does not have the subdirectory that the module should be in.
var ErrNoSubdir = errors.New("module subdirectory not found")

// Subdir returns the directory of the package that a pattern matches. Registries use patterns for
// archives with a single directory whose name the forge chooses. A pattern must match exactly one
// directory. If pattern has no special characters, it is returned unchanged, even by a nil Tree.
func (t *Tree) Subdir(pattern string) (string, error) {
	if !IsPattern(pattern) {
		return pattern, nil
	}
	match := ""
	count := 0
	seen := make(map[string]bool)
	for _, entry := range t.Entries {
		for dir := path.Dir(entry.Path); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			ok, err := path.Match(path.Clean(pattern), dir)
			if err != nil {
				return "", fmt.Errorf("%w: %q is not a valid pattern: %w", ErrNoSubdir, pattern, err)
			}
			if ok {
				match = dir
				count++
			}
		}
	}
	if count != 1 {
		return "", fmt.Errorf("%w: the pattern %q must match exactly one directory of the package and matches %d", ErrNoSubdir, pattern, count)
	}
	return match, nil
}

// IsPattern reports whether a subdirectory is a pattern.
func IsPattern(subdir string) bool { return strings.ContainsAny(subdir, `*?[\`) }

// CleanSubdir returns the normal form of a directory of a package. The root of the package is "".
func CleanSubdir(subdir string) string {
	if subdir = path.Clean(subdir); subdir == "." {
		return ""
	}
	return subdir
}
