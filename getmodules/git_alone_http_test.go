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
	"slices"
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

// TestBuiltInRedirects checks that redirects are followed only for the first request, and
// that credentials are dropped when a redirect points to another origin.
func TestBuiltInRedirects(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, second := gitMainTF(t, s)
	private := newGitServer(t)
	private.user, private.password = "u", "secret"
	gitMainTF(t, private)

	from := func(to func(r *http.Request) string) string {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, to(r), http.StatusFound)
		}))
		t.Cleanup(front.Close)
		return front.URL
	}
	moved := from(func(r *http.Request) string { return s.URL + strings.Replace(r.URL.String(), "/old", "", 1) })
	pkg, err := builtInFor(t, withUser(moved, "u", "secret")+"/old/net.git")
	if err != nil || pkg.Revision != second {
		t.Errorf("FetchGit through a redirect = %+v, %v, want %s", pkg, err, second)
	}
	if want := "git::" + moved + "/old/net.git?ref=" + second; pkg.Resolved.String() != want {
		t.Errorf("Resolved = %s, want the address that was asked for: %s", pkg.Resolved, want)
	}
	stolen := from(func(r *http.Request) string { return private.URL + r.URL.String() })
	if _, err := builtInFor(t, withUser(stolen, "u", "secret")+"/net.git"); !errors.Is(err, getmodules.ErrAuthentication) {
		t.Errorf("FetchGit with credentials for another server = %v, want ErrAuthentication", err)
	}
	for name, to := range map[string]func(r *http.Request) string{
		"in a circle":        func(r *http.Request) string { return r.URL.String() },
		"to what is no list": func(*http.Request) string { return s.URL + "/net.git/HEAD" },
		"to a file":          func(*http.Request) string { return "file:///etc/passwd" },
		"to git":             func(*http.Request) string { return "git://127.0.0.1/net.git/info/refs" },
	} {
		if _, err := builtInFor(t, from(to)+"/net.git"); err == nil {
			t.Errorf("FetchGit through a redirect %s succeeds", name)
		}
	}
	pack := gitFront(t, s, func(w http.ResponseWriter, r *http.Request, answer []byte) {
		if r.Method == http.MethodPost {
			http.Redirect(w, r, s.URL+r.URL.String(), http.StatusTemporaryRedirect)
			return
		}
		_, _ = w.Write(answer)
	})
	if _, err := builtInFor(t, pack+"/net.git"); !errors.Is(err, getmodules.ErrRefusedLocation) {
		t.Errorf("FetchGit with a redirect of the content = %v, want ErrRefusedLocation", err)
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

// TestBuiltInDamage cuts the server's answers off at every byte and changes every byte.
// The fetch must never return a tree from a cut-off answer, or the wrong commit from a
// changed one.
func TestBuiltInDamage(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, second := gitMainTF(t, s)
	answers := map[string][]byte{}
	record := gitFront(t, s, func(w http.ResponseWriter, r *http.Request, answer []byte) {
		answers[r.Method] = answer
		_, _ = w.Write(answer)
	})
	if _, err := builtInFor(t, record+"/net.git"); err != nil {
		t.Fatal(err)
	}
	for method, answer := range answers {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			sent := map[string][]byte{http.MethodGet: answers[http.MethodGet], http.MethodPost: answers[http.MethodPost]}
			address := replay(t, sent) + "/net.git"
			for at := range answer {
				sent[method] = answer[:at]
				if pkg, err := builtInFor(t, address); err == nil {
					t.Errorf("cut off at %d of %d: FetchGit = %+v", at, len(answer), pkg)
				}
				sent[method] = slices.Concat(answer[:at], []byte{answer[at] ^ 1}, answer[at+1:])
				if pkg, err := builtInFor(t, address); err == nil && pkg.Revision != second {
					t.Errorf("changed at %d of %d: FetchGit = %+v", at, len(answer), pkg)
				}
			}
		})
	}
}

// replay starts a server that has one answer for each method.
func replay(t testing.TB, answers map[string][]byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := "application/x-git-upload-pack-result"
		if r.Method == http.MethodGet {
			kind = "application/x-git-upload-pack-advertisement"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(answers[r.Method])
	}))
	t.Cleanup(s.Close)
	return s.URL
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
