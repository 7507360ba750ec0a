package getmodules_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// builtInFor fetches from an address with the built-in client, without waiting between
// attempts.
func builtInFor(t testing.TB, address string) (*getmodules.Package, error) {
	t.Helper()
	f := newBuiltInFetcher(t)
	f.Backoff = func(int) time.Duration { return 0 }
	pkg, _, err := fetchGit(t, f, getmodules.Request{Package: addrs.ParseModulePackage("git::" + address)})
	return pkg, err
}

func withUser(raw, user, password string) string {
	return strings.Replace(raw, "http://", "http://"+url.UserPassword(user, password).String()+"@", 1)
}

func TestBuiltInCredentials(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	s.user, s.password = "me", "pa ss/@:%\"'é"
	_, _, second := gitMainTF(t, s)
	pkg, err := builtInFor(t, withUser(s.URL, s.user, s.password)+"/net.git")
	if err != nil || pkg.Revision != second || strings.Contains(pkg.Resolved.String(), "me") {
		t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, second)
	}
	for _, base := range []string{s.URL, withUser(s.URL, "me", "wr0ng")} {
		_, err := builtInFor(t, base+"/net.git")
		if !errors.Is(err, getmodules.ErrAuthentication) || !strings.Contains(err.Error(), "install git") || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("FetchGit with wrong credentials = %v, want ErrAuthentication and advice", err)
		}
	}
}

// gitFront starts a server in front of another one and returns its URL. change sends each
// answer and may alter it.
func gitFront(t testing.TB, behind *gitServer, change func(w http.ResponseWriter, r *http.Request, answer []byte)) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, behind.URL+r.URL.String(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		// git http-backend does not accept chunked requests.
		request.Header, request.ContentLength = r.Header.Clone(), r.ContentLength
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return // the client is gone
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		change(w, r, body)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

func TestBuiltInServerSays(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitMainTF(t, s)
	hostile := "x\x1b]0;\u202e\n\rERR"
	tests := map[string]func(w http.ResponseWriter, r *http.Request, answer []byte){
		"an error instead of the list": func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			fmt.Fprintf(w, "%04xERR %s", len(hostile)+8, hostile)
		},
		"an error instead of the pack": func(w http.ResponseWriter, r *http.Request, answer []byte) {
			if r.Method == http.MethodPost {
				answer = fmt.Appendf(nil, "%04xERR %s", len(hostile)+8, hostile)
			}
			_, _ = w.Write(answer)
		},
		"a page": func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		},
		"junk": func(w http.ResponseWriter, _ *http.Request, _ []byte) { fmt.Fprint(w, "00ff"+hostile) },
		"503":  func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusServiceUnavailable) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := builtInFor(t, gitFront(t, s, change)+"/net.git")
			if err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e\n\r") {
				t.Errorf("FetchGit = %q, want an error fit for a terminal", err)
			}
		})
	}
}

// TestGitStatus checks that the error has the status of the server's answer, whichever client of git
// is used.
func TestGitStatus(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitMainTF(t, s)
	for _, status := range []int{http.StatusInternalServerError, http.StatusTeapot} {
		address := gitFront(t, s, func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(status) }) + "/net.git"
		for name, f := range map[string]*getmodules.Fetcher{"git": newWireFetcher(t), "built-in": newBuiltInFetcher(t)} {
			t.Run(fmt.Sprintf("%d by %s", status, name), func(t *testing.T) {
				t.Parallel()
				f.Backoff = func(int) time.Duration { return 0 }
				_, _, err := fetchGit(t, f, getmodules.Request{Package: addrs.ParseModulePackage("git::" + address)})
				found, ok := errors.AsType[*getmodules.StatusError](err)
				if !ok || found.StatusCode != status || !strings.Contains(address, found.URL[:len("http://127.0.0.1")]) {
					t.Errorf("FetchGit = %v with the status %+v, want %d", err, found, status)
				}
			})
		}
	}
}

func TestBuiltInCancelled(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitMainTF(t, s)
	for _, method := range []string{http.MethodPost} {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		address := gitFront(t, s, func(w http.ResponseWriter, r *http.Request, answer []byte) {
			if r.Method == method {
				_, _ = w.Write(answer[:len(answer)/2])
				_ = http.NewResponseController(w).Flush()
				cancel()
				<-release
			}
			_, _ = w.Write(answer)
		})
		parent := t.TempDir()
		_, err := newBuiltInFetcher(t).FetchGit(ctx, getmodules.Request{
			Package: addrs.ParseModulePackage("git::" + address + "/net.git"), Dir: filepath.Join(parent, "tree"),
		})
		close(release)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("FetchGit, canceled in %s, = %v, want context.Canceled", method, err)
		}
		gitWantLeft(t, parent, false)
	}
}
