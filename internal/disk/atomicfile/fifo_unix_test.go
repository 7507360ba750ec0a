//go:build unix

package atomicfile_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

// Read does not wait for a pipe without a writer.
func TestReadPipe(t *testing.T) {
	t.Parallel()
	root, dir := openRoot(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if _, err := atomicfile.Read(root, "pipe", 10); !errors.Is(err, atomicfile.ErrIrregular) {
		t.Errorf("Read of a pipe = %v, want ErrIrregular", err)
	}
}
