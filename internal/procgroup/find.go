package procgroup

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Find looks for a program in the absolute directories of the PATH of an
// environment, as in [os.Environ], and never in the current directory, which
// may belong to somebody else. It is "" where there is none.
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

// Lookup finds a variable that is set and not empty. The last one counts, as
// in os/exec.
func Lookup(env []string, name string) (string, bool) {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && sameName(key, name) {
			return value, value != ""
		}
	}
	return "", false
}

// Without takes the named variables out of env, in place.
func Without(env []string, names ...string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(names, func(name string) bool { return sameName(key, name) })
	})
}

// sameName compares names of variables as the system does.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}
