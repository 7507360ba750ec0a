package stagedfile_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/stagedfile"
)

// TestEmpty empties a new file, and a file that has been written to.
func TestEmpty(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, text := range []string{"a long text", "short", ""} {
		if err := stagedfile.Empty(file); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(file, text); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file.Name()); err != nil || string(got) != text {
			t.Errorf("the file has %q, %v; want %q", got, err, text)
		}
	}
}

// Emptying a file that cannot be changed is an error, unless it is already empty.
func TestEmptyFails(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := stagedfile.Empty(file); err == nil {
		t.Error("a file that is open for reading was emptied")
	}
}
