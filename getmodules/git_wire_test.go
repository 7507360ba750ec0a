package getmodules_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

// wireFetch is the result of a fetch: either the package and its tree, or the parts of the
// error, sorted because git's processes write them in any order.
type wireFetch struct {
	Package *getmodules.Package
	Tree    map[string]string
	Err     []string
}

// wireProgress matches the server's progress messages in an error. How many of them git
// reads before it fails is a matter of chance.
var wireProgress = regexp.MustCompile(`remote: (Enumerating|Counting|Compressing|Total)[^;]*(; )?`)

func wireResult(t testing.TB, f *getmodules.Fetcher, req getmodules.Request) wireFetch {
	t.Helper()
	pkg, dir, err := fetchGit(t, f, req)
	if err != nil {
		text := strings.TrimSuffix(wireProgress.ReplaceAllString(err.Error(), ""), "; ")
		return wireFetch{Err: slices.Sorted(strings.SplitSeq(strings.ReplaceAll(text, ": ", "; "), "; "))}
	}
	return wireFetch{Package: pkg, Tree: tree(t, dir)}
}

// wireSame checks that a fetch gives the same result with git and with the wire client,
// and returns it with the number of requests that the latter made. Git fetches from gitBase:
// either the server itself, or its directory, which needs fewer processes.
func wireSame(t *testing.T, s *gitServer, gitBase string, req getmodules.Request) (wireFetch, int) {
	t.Helper()
	git, wire := newGitFetcher(t), newWireFetcher(t)
	gitReq := req
	gitReq.Package = addrs.ParseModulePackage(strings.Replace(req.Package.String(), s.URL, gitBase, 1))
	want := wireResult(t, git, gitReq)
	if want.Package != nil {
		want.Package.Resolved = addrs.ParseModulePackage(strings.Replace(want.Package.Resolved.String(), gitBase, s.URL, 1))
	}
	s.count()
	got := wireResult(t, wire, req)
	requests := s.count()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(getmodules.Package{}, "Bytes", "Tree")); diff != "" {
		t.Errorf("FetchGit(%q at %q) (-git +wire):\n%s", req.Package, req.Revision, diff)
	}
	if got.Package != nil && got.Package.Bytes == 0 {
		t.Errorf("FetchGit(%q at %q).Bytes = 0", req.Package, req.Revision)
	}
	return got, requests
}

// TestWireFaults uses servers that fail for our own client but work for git. The fetch must be left to git, also
// the next one.
func TestWireFaults(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, first, second := gitMainTF(t, s)
	tests := map[string]func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder){
		"404": func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) { w.WriteHeader(404) },
		"503": func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) { w.WriteHeader(503) },
		"page": func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) {
			fmt.Fprint(w, "<html>please log in</html>")
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			sendBody(w, truth, truth.Body.Bytes()[:truth.Body.Len()-30])
		},
		"broken off": func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			w.Header().Set("Content-Length", "100000")
			sendBody(w, truth, truth.Body.Bytes())
			panic(http.ErrAbortHandler)
		},
		"no such ref": func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			sendBody(w, truth, []byte("0000"))
		},
		"redirect in vain": func(w http.ResponseWriter, r *http.Request, _ *httptest.ResponseRecorder) {
			http.Redirect(w, r, "/x", http.StatusFound)
		},
	}
	for name, answer := range testenv.SampleMap(tests, "404", "page", "cut off", "broken off", "no such ref", "redirect in vain") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front, fetcher := newWireFront(t, s, answer), newWireFetcher(t)
			for revision, want := range map[string]string{"": second, first: first} {
				req := front.request("?ref=main")
				req.Revision = revision
				pkg, _, err := fetchGit(t, fetcher, req)
				if err != nil || pkg.Revision != want {
					t.Errorf("FetchGit at %q = %+v, %v, want %s", revision, pkg, err, want)
				}
			}
			requests, _, _ := front.take()
			toGit := slices.IndexFunc(requests, isByGit)
			if toGit < 1 || slices.ContainsFunc(requests[toGit:], func(r *http.Request) bool { return !isByGit(r) }) {
				t.Errorf("of %d requests the first by git is number %d, want some before it and none without git after it", len(requests), toGit)
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
	front := newWireFront(t, s, func(w http.ResponseWriter, r *http.Request, _ *httptest.ResponseRecorder) {
		body := "0011command=fetch0001000fno-progress000dofs-delta000cdeepen 10032want " + second + "\n0009done\n0000"
		request := httptest.NewRequest(http.MethodPost, r.URL.Path, strings.NewReader(body))
		request.Header = r.Header.Clone()
		truth := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(truth, request)
		sendTruth(w, r, truth)
	})
	req := front.request("")
	req.Revision = first
	_, _, err := fetchGit(t, newBuiltInFetcher(t), req)
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
	var truth *httptest.ResponseRecorder
	damage := bytes.Clone
	front := newWireFront(t, s, func(w http.ResponseWriter, _ *http.Request, answer *httptest.ResponseRecorder) {
		if truth == nil {
			truth = answer
		}
		sendBody(w, truth, damage(truth.Body.Bytes()))
	})
	f, req := newBuiltInFetcher(t), front.request("")
	req.Revision = first
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
		} else if diff := cmp.Diff(map[string]string{"main.tf": "# one\n"}, got.Tree); diff != "" {
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
	front := newWireFront(t, s, func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
		w.Header().Set("Content-Encoding", "gzip")
		sendBody(w, truth, gzipped(truth.Body.Bytes()))
	})
	pkg, _, err := fetchGit(t, newWireFetcher(t), front.request(""))
	if _, byGit, _ := front.take(); err != nil || pkg.Revision != second || byGit > 0 {
		t.Errorf("FetchGit = %+v, %v, %d requests of git's, want %s and none", pkg, err, byGit, second)
	}
}

// TestGitCancelled cancels a fetch in the middle of the pack. Nothing is left, and git is not tried then.
func TestGitCancelled(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitMainTF(t, s)
	for client, fetcher := range gitClients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			front := newGitFront(t, s, func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder) {
				if !bytes.Contains(truth.Body.Bytes(), []byte("packfile\n")) {
					sendTruth(w, r, truth)
					return
				}
				sendBody(w, truth, truth.Body.Bytes()[:truth.Body.Len()/2])
				_ = http.NewResponseController(w).Flush()
				cancel()
				<-r.Context().Done()
			})
			parent := t.TempDir()
			req := front.request("")
			req.Dir = filepath.Join(parent, "tree")
			_, err := fetcher(t).FetchGit(ctx, req)
			if _, byGit, _ := front.take(); !errors.Is(err, context.Canceled) || byGit > 0 && client != "git" {
				t.Errorf("FetchGit = %v, %d requests of git's, want context.Canceled and none", err, byGit)
			}
			gitWantLeft(t, parent, false)
		})
	}
}

// TestGitErrorAnswers has servers that answer with an error. What they say is fit for a terminal, and the error has the
// status of the answer, whichever client of git is used.
func TestGitErrorAnswers(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitMainTF(t, s)
	hostile := "x\x1b]0;\u202e\n\rERR"
	said := fmt.Appendf(nil, "%04xERR %s", len(hostile)+8, hostile)
	withStatus := func(status int) func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder) {
		return func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) { w.WriteHeader(status) }
	}
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder)
		status int // of a *StatusError
	}{
		"an error instead of the list": {answer: func(w http.ResponseWriter, _ *http.Request, truth *httptest.ResponseRecorder) {
			sendBody(w, truth, said)
		}},
		"an error instead of the pack": {answer: func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder) {
			if !bytes.Contains(truth.Body.Bytes(), []byte("packfile\n")) {
				sendTruth(w, r, truth)
				return
			}
			sendBody(w, truth, said)
		}},
		"junk": {answer: func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) {
			fmt.Fprint(w, "00ff"+hostile)
		}},
		"status 500": {withStatus(http.StatusInternalServerError), http.StatusInternalServerError},
		"status 418": {withStatus(http.StatusTeapot), http.StatusTeapot},
	} {
		for client, fetcher := range gitClients {
			t.Run(name+", "+client, func(t *testing.T) {
				t.Parallel()
				front, f := newGitFront(t, s, tt.answer), fetcher(t)
				f.Backoff = func(int) time.Duration { return 0 }
				_, _, err := fetchGit(t, f, front.request(""))
				if err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e\n\r") {
					t.Errorf("FetchGit = %q, want an error fit for a terminal", err)
				}
				found, ok := errors.AsType[*getmodules.StatusError](err)
				if ok != (tt.status != 0) || ok && (found.StatusCode != tt.status || !strings.HasPrefix(found.URL, front.URL)) {
					t.Errorf("FetchGit = %v with the status %+v, want %d", err, found, tt.status)
				}
			})
		}
	}
}
