//go:build unix

package atomicfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestReadUserPipe reads named pipes, which block until there is a writer.
func TestReadUserPipe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, fails string }{
		{"text", "abc", ""},
		{"nothing", "", ""},
		{"too much", strings.Repeat("x", 1<<20), "larger than 4 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			name := pipe(t)
			go func() {
				if w, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
					_, _ = w.WriteString(test.text) // fails if the reader has closed the pipe
					_ = w.Close()
				}
			}()
			src, err := atomicfile.ReadUser(t.Context(), name, 4)
			if test.fails == "" && (err != nil || string(src) != test.text) {
				t.Errorf("Read = %q, %v; want %q", src, err, test.text)
			}
			if test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("Read = %v, want %q", err, test.fails)
			}
		})
	}
}

// TestReadUserDescriptor reads a process substitution of the shell: <(command).
func TestReadUserDescriptor(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	testenv.Must(t, err)
	defer r.Close()
	if _, err := w.WriteString("abc"); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, w.Close())
	src, err := atomicfile.ReadUser(t.Context(), "/dev/fd/"+strconv.Itoa(int(r.Fd())), 4)
	if string(src) != "abc" || err != nil {
		t.Errorf("Read = %q, %v; want abc", src, err)
	}
}

// TestReadUserWithoutWriter checks that the end of the context ends the wait for a writer and for
// data.
func TestReadUserWithoutWriter(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"no writer", "idle writer"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fifo := pipe(t)
			if name == "idle writer" {
				w, err := os.OpenFile(fifo, os.O_RDWR, 0)
				testenv.Must(t, err)
				defer w.Close()
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := atomicfile.ReadUser(ctx, fifo, 4)
				done <- err
			}()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), fifo) {
				t.Errorf("Read = %v, want the end of the context and the name", err)
			}
			// End the goroutine that still waits.
			if w, err := os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				_ = w.Close()
			}
		})
	}
}

func pipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	testenv.Must(t, syscall.Mkfifo(name, 0o600))
	return name
}
