package procgroup

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Find returns the path of a program in the absolute directories of PATH, or "". It never looks in the current
// directory, which may have files of other users.
func Find(env []string, name string) string {
	path, _ := Lookup(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return ""
}

// Lookup reports whether a variable is not empty. The last entry counts, as in os/exec.
func Lookup(env []string, name string) (string, bool) {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && sameName(key, name) {
			return value, value != ""
		}
	}
	return "", false
}

// Without works in place.
func Without(env []string, names ...string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(names, func(name string) bool { return sameName(key, name) })
	})
}

func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}
