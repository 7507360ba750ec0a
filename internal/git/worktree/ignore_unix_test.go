//go:build unix

package worktree_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestIgnoredUnknown has files that git waits for or refuses.
func TestIgnoredUnknown(t *testing.T) {
	t.Parallel()
	pipe := func(name string) func(w workspace) {
		return func(w workspace) {
			if err := os.Remove(w.path(name)); !errors.Is(err, os.ErrNotExist) {
				w.check(err)
			}
			w.check(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
			w.check(syscall.Mkfifo(w.path(name), 0o600))
		}
	}
	for name, change := range map[string]func(w workspace){
		"a pipe as .gitignore":        pipe("a/.gitignore"),
		"a pipe as info/exclude":      pipe(".git/info/exclude"),
		"a pipe as the index":         pipe(".git/index"),
		"a pipe as core.excludesFile": func(w workspace) { w.git("config", "--global", "core.excludesFile", w.path("p")); pipe("p")(w) },
		"a link as .gitignore":        func(w workspace) { w.check(os.Symlink("../.gitignore", w.path("a/.gitignore"))) },
		"a large .gitignore":          func(w workspace) { w.write(".gitignore", "*.hcl\n"+strings.Repeat("#", 1<<20)) },
		"a damaged index":             func(w workspace) { w.git("add", "."); w.check(os.Truncate(w.path(".git/index"), 60)) },
		"a short index":               func(w workspace) { w.write(".git/index", "DIRC") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			w.write(".gitignore", "*.hcl\n")
			w.write("a/x", "")
			change(w)
			if got, err := w.ignored("a", lock); err == nil {
				t.Errorf("Ignored: %q, want an error", got)
			}
		})
	}
}
