package getmodules_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestWireTags(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.setRef("refs/tags/v1", first)
	r.annotate("v2", second)
	r.annotateTag("v3", "v2")
	r.setRef("refs/heads/no-tag", r.head("refs/heads/main"))
	req := getmodules.Request{Package: s.address(r, "")}
	want, err := newGitFetcher(t).Tags(t.Context(), req)
	testenv.Must(t, err)
	for name, f := range map[string]*getmodules.Fetcher{"wire": newWireFetcher(t), "built-in": newBuiltInFetcher(t)} {
		s.count()
		got, err := f.Tags(t.Context(), req)
		testenv.Must(t, err)
		if n := s.count(); n != 1 {
			t.Errorf("Tags by %s made %d requests, want 1", name, n)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 3 {
			t.Errorf("Tags (-git +%s):\n%s", name, diff)
		}
	}
	for _, tag := range []string{"v1", "v2", "v3"} {
		r.git("", "tag", "--delete", tag)
	}
	if got, err := newWireFetcher(t).Tags(t.Context(), req); err != nil || len(got) > 0 {
		t.Errorf("Tags of a repository without tags = %v, %v", got, err)
	}
	none := getmodules.Request{Package: addrs.ParseModulePackage(strings.TrimSuffix(req.Package.String(), "net.git") + "none.git")}
	if _, err := newWireFetcher(t).Tags(t.Context(), none); !errors.Is(err, getmodules.ErrRepositoryNotFound) {
		t.Errorf("Tags of no repository = %v, want ErrRepositoryNotFound", err)
	}
}

// TestTagsAmongManyRefs checks that the cost of listing tags depends on the number of
// tags, not on the number of branches and pull requests.
func TestTagsAmongManyRefs(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "many.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	const tags, others = 500, 50_000
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range others {
		fmt.Fprintf(&packed, "%s refs/heads/branch-%06d\n%s refs/pull/%06d/head\n", commit, i, commit, i)
	}
	for i := range tags {
		fmt.Fprintf(&packed, "%s refs/tags/v1.%d.0\n", commit, i)
	}
	testenv.Must(t, os.WriteFile(filepath.Join(r.dir, "packed-refs"), []byte(packed.String()), 0o644))
	var bytes, requests atomic.Int64
	counted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		requests.Add(1)
		s.Config.Handler.ServeHTTP(countingWriter{w, &bytes}, req)
	}))
	defer counted.Close()
	for _, backend := range []getmodules.GitBackend{getmodules.GitAuto, getmodules.GitInstalled} {
		bytes.Store(0)
		requests.Store(0)
		f := newGitFetcher(t)
		f.GitBackend = backend
		got, err := f.Tags(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::" + counted.URL + "/many.git")})
		if err != nil || len(got) != tags {
			t.Fatalf("Tags = %d, %v; want %d", len(got), err, tags)
		}
		if bytes.Load() > 100<<10 || requests.Load() > 2 {
			t.Errorf("backend %q: %d bytes in %d answers", backend, bytes.Load(), requests.Load())
		}
	}
}

type countingWriter struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (w countingWriter) Write(p []byte) (int, error) {
	w.bytes.Add(int64(len(p)))
	return w.ResponseWriter.Write(p)
}

// A server that lists refs without end is left at the limit of refs, by each client. The git program
// is not asked after the native client has reached the limit, because git has none.
func TestEndlessRefs(t *testing.T) {
	t.Parallel()
	const maxSent = 256 << 20 // what a client reads, and what its connection buffers
	// Formatting each ref takes longer than reading it, so only the number of the block is replaced.
	block := []byte("BLOCK")
	var refs []byte
	for i := range 4096 {
		line := fmt.Sprintf("%040x refs/tags/v%s.%04d\n", i+1, block, i)
		refs = fmt.Appendf(refs, "%04x%s", len(line)+4, line)
	}
	s := newGitServer(t)
	gitMainTF(t, s)
	var sent atomic.Int64
	front := newGitFront(t, s, func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder) {
		if r.Method == http.MethodGet {
			sendTruth(w, r, truth)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		for i := 0; sent.Load() < maxSent; i++ {
			n, err := w.Write(bytes.ReplaceAll(refs, block, fmt.Appendf(nil, "%05d", i)))
			sent.Add(int64(n))
			if err != nil {
				return // the client has closed the connection
			}
		}
	})
	for client, fetcher := range testenv.SampleMap(userClients, "in process") {
		for _, revisions := range []bool{false, true} {
			sent.Store(0)
			var err error
			if revisions {
				_, _, err = fetchGit(t, fetcher(t), front.request("?ref=v1.0.0"))
			} else {
				_, err = fetcher(t).Tags(t.Context(), front.request(""))
			}
			if !errors.Is(err, getmodules.ErrTooLarge) {
				t.Errorf("%s: the error is %v, want ErrTooLarge", client, err)
			}
			if sent.Load() >= maxSent {
				t.Errorf("%s: the client has read %d bytes", client, sent.Load())
			}
			if _, byGit, _ := front.take(); (byGit > 0) != (client == "git") {
				t.Errorf("%s: git sent %d requests", client, byGit)
			}
		}
	}
}
