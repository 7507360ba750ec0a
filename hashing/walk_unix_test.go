//go:build unix

package hashing_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestFIFO would block forever if the FIFO were opened.
func TestFIFO(t *testing.T) {
	t.Parallel()
	dir := onDisk(t, fstest.MapFS{"d/main.tf": file("")})
	testenv.Must(t, syscall.Mkfifo(filepath.Join(dir, "d", "pipe"), 0o600))
	var refused *hashing.TreeError
	if _, err := hashing.Dir(t.Context(), dir); !errors.As(err, &refused) || refused.Path != "d/pipe" {
		t.Errorf("Dir: error %v, want a *TreeError of d/pipe", err)
	}
}
