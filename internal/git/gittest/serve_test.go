package gittest_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// newHandler returns a handler with the repository a/r.git, which has one commit, and a function that runs git in it.
func newHandler(t *testing.T) (h *gittest.Handler, run func(stdin string, args ...string) string) {
	t.Helper()
	git := testenv.Program(t, "git")
	root := t.TempDir()
	testenv.Must(t, os.Mkdir(filepath.Join(root, "a"), 0o755))
	run = testenv.Git(t, root, "GIT_DIR="+filepath.Join(root, "a", "r.git"))
	run("", "init", "--quiet", "--bare", "--initial-branch=main")
	run("commit refs/heads/main\nmark :1\ncommitter a <a@example.com> 0 +0000\ndata 1\nx\nM 100644 inline a\ndata 1\na\n\n", "fast-import", "--quiet")
	return &gittest.Handler{Git: git, Root: root, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}}, run
}

// TestHandler compares the answers with those of git http-backend.
func TestHandler(t *testing.T) {
	t.Parallel()
	handler, run := newHandler(t)
	head := run("", "rev-parse", "refs/heads/main")
	backend := &cgi.Handler{Path: handler.Git, Args: []string{"http-backend"}, Dir: handler.Root, Stderr: io.Discard,
		Env: append(handler.Env[:len(handler.Env):len(handler.Env)], "GIT_PROJECT_ROOT="+handler.Root, "GIT_HTTP_EXPORT_ALL=1")}
	handler.Backend = backend
	listRefs := "0014command=ls-refs\n0000"
	fetchOne := "0032want " + head + "\n00000009done\n"
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
	}{
		{name: "advertisement", method: "GET", path: "/a/r.git/info/refs?service=git-upload-pack"},
		{name: "advertisement of version 1", method: "GET", path: "/a/r.git/info/refs?service=git-upload-pack", header: []string{"Git-Protocol", "version=1"}},
		{name: "advertisement of version 2", method: "GET", path: "/a/r.git/info/refs?service=git-upload-pack", header: []string{"Git-Protocol", "version=2"}},
		{name: "refs", method: "POST", path: "/a/r.git/git-upload-pack", body: listRefs, header: []string{"Git-Protocol", "version=2"}},
		{name: "refs, compressed", method: "POST", path: "/a/r.git/git-upload-pack", body: compressed(t, listRefs), header: []string{"Git-Protocol", "version=2", "Content-Encoding", "gzip"}},
		{name: "pack", method: "POST", path: "/a/r.git/git-upload-pack", body: fetchOne},
		{name: "not a request", method: "POST", path: "/a/r.git/git-upload-pack", body: "hello"},
		{name: "another content", method: "POST", path: "/a/r.git/git-upload-pack", body: listRefs, header: []string{"Content-Type", "text/plain"}},
		{name: "another service", method: "GET", path: "/a/r.git/info/refs?service=git-other"},
		{name: "dumb protocol", method: "GET", path: "/a/r.git/HEAD"},
		{name: "no repository", method: "GET", path: "/b/r.git/info/refs?service=git-upload-pack"},
		{name: "outside", method: "GET", path: "/a/../../r.git/info/refs?service=git-upload-pack"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answer := func(serve http.HandlerFunc) map[string]any {
				r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
				r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
				for i := 0; i < len(c.header); i += 2 {
					r.Header.Set(c.header[i], c.header[i+1])
				}
				w := httptest.NewRecorder()
				serve(w, r)
				return map[string]any{"status": w.Code, "header": w.Header(), "body": w.Body.String()}
			}
			got := answer(func(w http.ResponseWriter, r *http.Request) { handler.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/")) })
			want := answer(func(w http.ResponseWriter, r *http.Request) {
				own := *backend
				if protocol := r.Header.Get("Git-Protocol"); protocol != "" {
					own.Env = append(own.Env[:len(own.Env):len(own.Env)], "GIT_PROTOCOL="+protocol)
				}
				own.ServeHTTP(w, r)
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("not as git http-backend (-backend +got):\n%s", diff)
			}
		})
	}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}
