package getmodules_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// wireFront is a server in front of a git server. It passes git's own requests on and
// alters the answers to all others.
type wireFront struct {
	*httptest.Server
	// alter answers a request. truth is the git server's answer to it.
	alter func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder)
	wire  atomic.Int32 // requests that did not come from git
	git   atomic.Int32 // requests that came from git
}

func newWireFront(t testing.TB, s *gitServer) *wireFront {
	t.Helper()
	f := &wireFront{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.UserAgent(), "cotter") {
			f.git.Add(1)
			s.Config.Handler.ServeHTTP(w, r)
			return
		}
		f.wire.Add(1)
		truth := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(truth, r)
		f.alter(w, r, truth)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *wireFront) address(query string) addrs.ModulePackage {
	return addrs.ParseModulePackage("git::" + f.URL + "/net.git" + query)
}

// wireAnswer sends body with the status and headers of the git server's answer.
func wireAnswer(w http.ResponseWriter, truth *httptest.ResponseRecorder, body []byte) {
	for name, values := range truth.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(truth.Code)
	w.Write(body)
}

// TestWireFaults uses servers that fail for the wire client but work for git. The fetch
// must fall back to git and return the right commit.
func TestWireFaults(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, first, second := gitMainTF(t, s)
	status := func(code int) func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder) {
		return func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) { w.WriteHeader(code) }
	}
	tests := map[string]func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder){
		"400": status(400), "401": status(401), "403": status(403), "404": status(404), "429": status(429), "500": status(500), "503": status(503),
		"page": func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) {
			fmt.Fprint(w, "<html>please log in</html>")
		},
		"empty": func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			wireAnswer(w, truth, nil)
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			wireAnswer(w, truth, truth.Body.Bytes()[:truth.Body.Len()-30])
		},
		"broken off": func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			w.Header().Set("Content-Length", "100000")
			wireAnswer(w, truth, truth.Body.Bytes())
			panic(http.ErrAbortHandler)
		},
		"no such ref": func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			wireAnswer(w, truth, []byte("0000"))
		},
		"redirect in vain": func(w http.ResponseWriter, r *http.Request, _ *httptest.ResponseRecorder) {
			http.Redirect(w, r, "/x", http.StatusFound)
		},
		"unknown encoding": func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			w.Header().Set("Content-Encoding", "br")
			wireAnswer(w, truth, truth.Body.Bytes())
		},
	}
	for name, alter := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := newWireFront(t, s)
			front.alter = alter
			fetcher := newWireFetcher(t)
			var attempts []int32
			for _, revision := range []string{"", first} {
				want := cmp.Or(revision, second)
				pkg, _, err := fetchGit(t, fetcher, getmodules.Request{Package: front.address("?ref=main"), Revision: revision})
				if err != nil || pkg.Revision != want {
					t.Errorf("FetchGit at %q = %+v, %v, want %s", revision, pkg, err, want)
				}
				attempts = append(attempts, front.wire.Load())
			}
			if attempts[0] == 0 || attempts[1] != attempts[0] {
				t.Errorf("%d requests without git, want some for the first fetch and none for the second", attempts)
			}
		})
	}
}

// TestWireWrongPack checks that a pack with a commit other than the requested one is
// refused.
func TestWireWrongPack(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, first, second := gitMainTF(t, s)
	front := newWireFront(t, s)
	front.alter = func(w http.ResponseWriter, r *http.Request, _ *httptest.ResponseRecorder) {
		body := "0011command=fetch0001000fno-progress000dofs-delta000cdeepen 10032want " + second + "\n0009done\n0000"
		request := httptest.NewRequest(http.MethodPost, r.URL.Path, strings.NewReader(body))
		request.Header = r.Header.Clone()
		truth := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(truth, request)
		wireAnswer(w, truth, truth.Body.Bytes())
	}
	_, _, err := fetchGit(t, newGitlessFetcher(t), getmodules.Request{Package: front.address(""), Revision: first})
	if err == nil || !strings.Contains(err.Error(), "did not send the commit "+first) {
		t.Errorf("FetchGit = %v, want that the server did not send the commit", err)
	}
}

// TestWireDamaged cuts the answer to a fetch off at every byte and changes every byte of it, with no git to
// fall back to. The fetch must fail, or return the right tree if a byte was changed.
func TestWireDamaged(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, first, _ := gitMainTF(t, s)
	front := newWireFront(t, s)
	var truth *httptest.ResponseRecorder
	damage := bytes.Clone
	front.alter = func(w http.ResponseWriter, _ *http.Request, answer *httptest.ResponseRecorder) {
		if truth == nil {
			truth = answer
		}
		wireAnswer(w, truth, damage(truth.Body.Bytes()))
	}
	f, req := newGitlessFetcher(t), getmodules.Request{Package: front.address(""), Revision: first}
	if got := wireResult(t, f, req); got.Err != nil {
		t.Fatal(got.Err)
	}
	size, refused := truth.Body.Len(), 0
	for offset := range size {
		damage = func(body []byte) []byte { return body[:offset] }
		if got := wireResult(t, f, req); got.Err == nil {
			t.Errorf("cut off at %d: %v", offset, got.Tree)
		}
		damage = func(body []byte) []byte {
			body = bytes.Clone(body)
			body[offset] ^= 1 << (offset % 8)
			return body
		}
		if got := wireResult(t, f, req); got.Err != nil {
			refused++
		} else if diff := gocmp.Diff(map[string]string{"main.tf": "# one\n"}, got.Tree); diff != "" {
			t.Errorf("with byte %d changed (-want +got):\n%s", offset, diff)
		}
	}
	// The commits that the server calls shallow are not checked, so changes to them go unnoticed.
	if refused < size-len("shallow "+first) {
		t.Errorf("%d of %d answers were refused", refused, size)
	}
}

func TestWireGzip(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, second := gitMainTF(t, s)
	front := newWireFront(t, s)
	front.alter = func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
		var packed bytes.Buffer
		zw := gzip.NewWriter(&packed)
		zw.Write(truth.Body.Bytes())
		zw.Close()
		w.Header().Set("Content-Encoding", "gzip")
		wireAnswer(w, truth, packed.Bytes())
	}
	pkg, _, err := fetchGit(t, newWireFetcher(t), getmodules.Request{Package: front.address("")})
	if err != nil || pkg.Revision != second || front.git.Load() > 0 {
		t.Errorf("FetchGit = %+v, %v, %d requests of git's, want %s and none", pkg, err, front.git.Load(), second)
	}
}

func TestWireRedirect(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, second := gitMainTF(t, s)
	front := newWireFront(t, s)
	front.alter = func(w http.ResponseWriter, r *http.Request, _ *httptest.ResponseRecorder) {
		http.Redirect(w, r, s.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
	}
	pkg, _, err := fetchGit(t, newWireFetcher(t), getmodules.Request{Package: front.address("")})
	if err != nil || pkg.Revision != second || front.git.Load() > 0 {
		t.Fatalf("FetchGit = %+v, %v, %d requests of git's, want %s and none", pkg, err, front.git.Load(), second)
	}
	if want := front.address("?ref=" + second); pkg.Resolved != want {
		t.Errorf("Resolved = %s, want the address that was asked for, %s", pkg.Resolved, want)
	}
}

func TestWireCancelled(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitMainTF(t, s)
	front := newWireFront(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	front.alter = func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder) {
		cancel()
		panic(http.ErrAbortHandler)
	}
	parent := t.TempDir()
	_, err := newWireFetcher(t).FetchGit(ctx, getmodules.Request{Package: front.address(""), Dir: filepath.Join(parent, "tree")})
	if !errors.Is(err, context.Canceled) || front.git.Load() > 0 {
		t.Errorf("FetchGit = %v, %d requests of git's, want context.Canceled and none", err, front.git.Load())
	}
	gitWantLeft(t, parent, false)
}

// TestWireLeft checks that requests to which git's own settings apply are left to git.
func TestWireLeft(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, second := gitMainTF(t, s)
	tests := map[string]struct{ config, query, env string }{
		"cookies":     {config: "[http]\n\tcookieFile = /none\n"},
		"query":       {query: "?x=1"},
		"environment": {env: "GIT_SSL_CIPHER_LIST=x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := newWireFront(t, s)
			front.alter = func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder) {}
			home := t.TempDir()
			if tt.config != "" {
				writeFile(t, filepath.Join(home, ".gitconfig"), strings.ReplaceAll(tt.config, "%[1]s", front.URL))
			}
			f := newWireFetcher(t, "HOME="+home, tt.env)
			pkg, _, err := fetchGit(t, f, getmodules.Request{Package: front.address(tt.query)})
			if err == nil && pkg.Revision != second || front.wire.Load() > 0 {
				t.Errorf("FetchGit = %+v, %v, %d requests without git, want none", pkg, err, front.wire.Load())
			}
		})
	}
}

// TestWireAuthority uses a server whose certificate authority is named only in git's
// settings.
func TestWireAuthority(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, second := gitMainTF(t, s)
	secure := httptest.NewTLSServer(s.Config.Handler)
	t.Cleanup(secure.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newGitlessFetcher(t)
	f.Git.Env = append(f.Git.Env, "GIT_SSL_CAINFO="+file)
	req := getmodules.Request{Package: addrs.ParseModulePackage("git::" + secure.URL + "/net.git")}
	if pkg, _, err := fetchGit(t, f, req); err != nil || pkg.Revision != second {
		t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, second)
	}
	// A client of the caller has its own authorities and proxy: the user's do not count, however they
	// are set.
	for _, env := range []string{"", "GIT_SSL_CAINFO=/does/not/exist", "HTTPS_PROXY=http://127.0.0.1:1", "ALL_PROXY=http://127.0.0.1:1", "all_proxy=http://127.0.0.1:1"} {
		f := newGitlessFetcher(t)
		f.Git.Env = append(f.Git.Env, env)
		f.HTTPClient, f.HTTPClientForGit = secure.Client(), true
		if pkg, _, err := fetchGit(t, f, req); err != nil || pkg.Revision != second {
			t.Errorf("FetchGit with a client and %q = %+v, %v, want %s", env, pkg, err, second)
		}
	}
	for _, env := range []string{"", "GIT_SSL_CAINFO=/does/not/exist", "ALL_PROXY=http://127.0.0.1:1"} {
		f := newGitlessFetcher(t)
		f.Git.Env = append(f.Git.Env, env)
		if _, _, err := fetchGit(t, f, req); !errors.Is(err, getmodules.ErrNoGit) {
			t.Errorf("FetchGit with %q = %v, want ErrNoGit", env, err)
		}
	}
}
