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

// A large document is in a file until it is read, and one is read at a time. A killed run leaves no file. Without a
// directory for temporary files, the document is in memory.
func TestLargeDocuments(t *testing.T) {
	tmp := t.TempDir()
	for _, dir := range []string{tmp, filepath.Join(tmp, "missing")} {
		t.Setenv("TMPDIR", dir)
		testLarge(t)
		entries, err := os.ReadDir(tmp)
		testenv.Must(t, err)
		if len(entries) > 0 {
			t.Errorf("%v are left", entries)
		}
	}
}

func testLarge(t *testing.T) {
	t.Helper()
	const limit = 200 << 10
	ask := func(ctx context.Context, size int, ended func(), read func(*httpx.Answer)) error {
		c := &httpx.Client{Retry: httpx.Retry{Attempts: 1}, HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			text := io.MultiReader(strings.NewReader(strings.Repeat("x", size)), atEnd(ended))
			return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(text)}, nil
		})}}
		_, _, err := httpx.Document[struct{}]{
			Login: httpx.Login{Request: func() (*http.Request, error) {
				return http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
			}},
			Limit: limit,
			Read: func(answer *httpx.Answer) (none struct{}, _ error) {
				read(answer)
				return none, nil
			},
		}.Get(c)
		return err
	}
	for size, large := range map[int]bool{0: false, 64<<10 - 1: false, 64 << 10: true, 100 << 10: true, limit: true} {
		testenv.Must(t, ask(t.Context(), size, func() {}, func(answer *httpx.Answer) {
			if string(answer.Body) != strings.Repeat("x", size) {
				t.Errorf("the body has %d bytes, want %d", len(answer.Body), size)
			}
			if names, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(names) > 0 && runtime.GOOS != "windows" {
				t.Errorf("a killed run would leave %q", names)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			isRead := false
			err := ask(ctx, size, cancel, func(*httpx.Answer) { isRead = true })
			if isRead == large || large != errors.Is(err, context.Canceled) {
				t.Errorf("meanwhile, another of %d bytes is read: %v, %v; a large one waits", size, isRead, err)
			}
		}))
	}
	if err := ask(t.Context(), limit+1, func() {}, func(*httpx.Answer) {}); !errors.As(err, new(*httpx.TooLargeError)) {
		t.Errorf("more than the limit = %v, want a TooLargeError", err)
	}
}

// atEnd is an empty reader that is called at the end of a body.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}
