package procgroup

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Find returns the path of a program in the absolute directories of the PATH in an environment,
// which has the form of [os.Environ]. It does not search the current directory, which may contain
// files of other users. It returns "" if it does not find the program.
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

// Lookup returns the value of a variable and reports whether it is set and not
// empty. The last entry counts, as in os/exec.
func Lookup(env []string, name string) (string, bool) {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && sameName(key, name) {
			return value, value != ""
		}
	}
	return "", false
}

// Without removes the named variables from env, in place.
func Without(env []string, names ...string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(names, func(name string) bool { return sameName(key, name) })
	})
}

// sameName reports whether two names of variables are equal on this system.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}
