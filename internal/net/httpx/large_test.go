package httpx_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/testenv"
)

// A large answer is in a file until it is used, and one is used at a time. A killed run leaves no file. Without a
// directory for temporary files, the answer is in memory.
func TestReceive(t *testing.T) {
	tmp := t.TempDir()
	for _, dir := range []string{tmp, filepath.Join(tmp, "missing")} {
		t.Setenv("TMPDIR", dir)
		testReceive(t)
		entries, err := os.ReadDir(tmp)
		testenv.Must(t, err)
		if len(entries) > 0 {
			t.Errorf("%v are left", entries)
		}
	}
}

func testReceive(t *testing.T) {
	t.Helper()
	const limit = 200 << 10
	receive := func(size int) (*httpx.Received, error) {
		c := httpx.Client{Retry: httpx.Retry{Attempts: 1}, HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", size)))}, nil
		})}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/", nil)
		testenv.Must(t, err)
		return c.Receive(req, limit)
	}
	nothing := func(*httpx.Answer) error { return nil }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for size, large := range map[int]bool{0: false, 64<<10 - 1: false, 64 << 10: true, 100 << 10: true, limit: true} {
		got, err := receive(size)
		testenv.Must(t, err)
		if names, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(names) > 0 && runtime.GOOS != "windows" {
			t.Errorf("a killed run would leave %q", names)
		}
		for range 2 {
			err = got.Use(t.Context(), func(a *httpx.Answer) error {
				if string(a.Body) != strings.Repeat("x", size) {
					t.Errorf("the body has %d bytes, want %d", len(a.Body), size)
				}
				if err := got.Use(ended, nothing); (err != nil) != large || err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("Use of %d bytes meanwhile = %v; a large one waits", size, err)
				}
				return nil
			})
			testenv.Must(t, err)
		}
		testenv.Must(t, got.Close())
	}
	if _, err := receive(limit + 1); !errors.As(err, new(*httpx.TooLargeError)) {
		t.Errorf("more than the limit = %v, want a TooLargeError", err)
	}
}
