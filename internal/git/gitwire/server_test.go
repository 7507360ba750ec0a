package gitwire_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/testenv"
)

// server records the requests to a handler.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func serve(t testing.TB, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.seen = append(s.seen, r)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// requests returns the requests so far in the form "POST /x.git/git-upload-pack".
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, r := range s.seen {
		list = append(list, r.Method+" "+r.URL.RequestURI())
	}
	return list
}

func (s *server) client(t testing.TB, path string) *gitwire.Client {
	t.Helper()
	u, err := url.Parse(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	return &gitwire.Client{Transport: &gitwire.HTTP{RoundTripper: s.Client().Transport, Repository: u}}
}

func canned(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		io.WriteString(w, body)
	}
}

// lines returns a packet for each line of text. Texts of four characters, such as "0000",
// are written as they are.
func lines(texts ...string) string {
	var out strings.Builder
	for _, text := range texts {
		if len(text) == 4 {
			out.WriteString(text)
			continue
		}
		fmt.Fprintf(&out, "%04x%s\n", len(text)+5, text)
	}
	return out.String()
}

func packet(data string) string { return fmt.Sprintf("%04x%s", len(data)+4, data) }

var generous = inprocess.PackLimits{Objects: 10_000, ObjectBytes: 1 << 20, TotalBytes: 1 << 30, MemoryBytes: 1 << 20}

func fetch(t testing.TB, c *gitwire.Client, want string) (*inprocess.PackStream, error) {
	t.Helper()
	return fetchAll(t.Context(), t, c, gitwire.Fetch{Want: []string{want}, Shallow: true, Bytes: 1 << 20}, generous)
}

// fetchAll fetches a pack and waits until all of it has been read.
func fetchAll(ctx context.Context, t testing.TB, c *gitwire.Client, f gitwire.Fetch, limits inprocess.PackLimits) (*inprocess.PackStream, error) {
	t.Helper()
	pack, err := c.Fetch(ctx, f)
	if err != nil {
		return nil, err
	}
	objects := inprocess.StartPack(pack, t.TempDir(), limits)
	t.Cleanup(func() { objects.Close() })
	if _, err := objects.Wait(); err != nil {
		return nil, err
	}
	return objects, nil
}

// gitServer serves the repository "r.git". It returns the server and a function that runs git in the repository.
func gitServer(t testing.TB) (*server, func(stdin string, args ...string) string) {
	t.Helper()
	root := t.TempDir()
	git := testenv.Git(t, root, "GIT_DIR="+filepath.Join(root, "r.git"))
	git("", "init", "--quiet", "--bare", "--initial-branch=main")
	h := &gittest.Handler{Git: "git", Root: root, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}}
	return serve(t, func(w http.ResponseWriter, r *http.Request) { h.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/")) }), git
}
