package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Program returns the path of an installed program. Without it, the test is skipped.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// WriteFile writes a file, with the directories that it needs.
func WriteFile(t testing.TB, name, text string) {
	t.Helper()
	write(t, name, text, 0o644)
}

// WriteFiles writes files, by their slash-separated paths, with the directories that they need.
func WriteFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
}

// WriteProgram writes an executable file, with the directories that it needs. It holds the fork lock: a child
// that is forked meanwhile would keep the file open for writing, and a file that is open for writing
// cannot be executed.
func WriteProgram(t testing.TB, name, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	write(t, name, text, 0o755)
}

func write(t testing.TB, name, text string, mode os.FileMode) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	Must(t, os.WriteFile(name, []byte(text), mode))
}
