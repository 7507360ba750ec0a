package getmodules_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestGitWarmStore fetches with what earlier fetches, by git, have left in the cache.
func TestGitWarmStore(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	for client, requests := range map[string][]int{"git": {2, 0, 0, 0, 3, 0}, "in process": {2, 0, 0, 0, 2, 1}} {
		f := newGitFetcher(t)
		for i, tt := range []struct{ query, revision, want string }{
			{"ref=main", first, first},
			{"ref=main", first, first},
			{"ref=gone", first, first},
			{"ref=" + first, "", first},
			{"", "", second},
			{"", second, second}, // our own client stores nothing
		} {
			s.count()
			pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, tt.query), Revision: tt.revision})
			if err != nil || pkg.Revision != tt.want {
				t.Errorf("FetchGit(%q at %q) by %s = %+v, %v, want %s", tt.query, tt.revision, client, pkg, err, tt.want)
			}
			if n := s.count(); n != requests[i] {
				t.Errorf("FetchGit(%q at %q) by %s made %d requests, want %d", tt.query, tt.revision, client, n, requests[i])
			}
			next := gitClients[client](t)
			next.CacheDir = f.CacheDir
			f = next
		}
	}
}

// TestGitIncremental fetches several versions of a large repository by several processes. Only what has
// changed is transferred, as long as the cache has its list of shallow commits.
func TestGitIncremental(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	const large = 1 << 20
	content := make([]byte, large)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	commits := map[string]string{}
	for _, tag := range []string{"v1", "v2", "v3", "v4"} {
		commits[tag] = r.commit("main", gitFile{path: "large", content: string(content)}, gitFile{path: "main.tf", content: tag})
		r.annotate(tag, commits[tag])
	}
	cache := t.TempDir()
	for _, tt := range []struct {
		query, revision string
		whole           bool
	}{
		{query: "ref=v1", whole: true}, {query: "ref=v2"}, {revision: commits["v3"]}, {query: "ref=v4", whole: true},
	} {
		f := newGitFetcher(t)
		f.CacheDir = cache
		if tt.query == "ref=v4" {
			testenv.Must(t, os.Remove(filepath.Join(gitStoreDir(f, "file://"+s.root+"/net.git"), "shallow")))
		}
		pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.local("git", r, tt.query), Revision: tt.revision})
		if err != nil || (pkg.Bytes > large) != tt.whole {
			t.Errorf("FetchGit(%q at %q) = %+v, %v, want everything: %t", tt.query, tt.revision, pkg, err, tt.whole)
		}
	}
}

func TestGitMovedTag(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	f := newGitFetcher(t)
	for _, want := range []string{first, second, first} {
		r.setRef("refs/tags/v1", want)
		pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.local("git", r, "ref=v1")})
		if err != nil || pkg.Revision != want {
			t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, want)
		}
	}
	r.git("", "tag", "--delete", "v1")
	pkg, _, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.local("git", r, "ref=v1"), Revision: first})
	if err != nil || pkg.Revision != first {
		t.Errorf("FetchGit of the revision of a deleted tag = %+v, %v, want %s", pkg, err, first)
	}
}

// TestGitRefusedRevision fetches older commits from a server that hands out only commits
// that a ref points to.
func TestGitRefusedRevision(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	s.oldProtocol = true
	r, first, second := gitMainTF(t, s)
	r.setRef("refs/tags/v2", second)
	for _, tt := range []struct{ query, revision string }{
		{"ref=main", first}, // the branch has moved on
		{"ref=gone", first},
		{"", first},
		{"ref=" + first, ""},
		{"ref=" + first[:9], ""},
	} {
		s.count()
		pkg, _, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, tt.query), Revision: tt.revision})
		if err != nil || pkg.Revision != first {
			t.Errorf("FetchGit(%q at %q) = %+v, %v, want %s", tt.query, tt.revision, pkg, err, first)
		}
		if n := s.count(); n <= 2 {
			t.Errorf("FetchGit(%q at %q) made %d requests: the server did not refuse", tt.query, tt.revision, n)
		}
	}
	// In one store, a branch is replaced by branches below its name.
	f := newGitFetcher(t)
	r.setRef("refs/heads/a", second)
	if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, ""), Revision: first}); err != nil {
		t.Error(err)
	}
	third := r.commit("main", gitFile{path: "main.tf", content: "# three"})
	r.git("", "branch", "--delete", "--force", "a")
	r.setRef("refs/heads/a/b", third)
	r.commit("main", gitFile{path: "main.tf", content: "# four"})
	r.commit("a/b", gitFile{path: "main.tf", content: "# five"})
	if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, ""), Revision: third}); err != nil {
		t.Error(err)
	}
	_, _, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, ""), Revision: strings.Repeat("a", 40)})
	if !errors.Is(err, getmodules.ErrRevisionNotFound) {
		t.Errorf("FetchGit of an unknown commit = %v, want ErrRevisionNotFound", err)
	}
}

func TestGitConcurrent(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	const n = 8
	commits := make([]string, n)
	for i := range commits {
		commits[i] = r.commit("main", gitFile{path: "main.tf", content: fmt.Sprint(i)})
		r.setRef(fmt.Sprint("refs/tags/v", i), commits[i])
	}
	f := newGitFetcher(t)
	parent := t.TempDir()
	var wg sync.WaitGroup
	got := make([]string, n)
	for i := range n {
		wg.Go(func() {
			dir := filepath.Join(parent, fmt.Sprint(i))
			pkg, err := f.FetchGit(t.Context(), getmodules.Request{Package: s.local("git", r, fmt.Sprint("ref=v", i)), Dir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = pkg.Revision
			if body, _ := os.ReadFile(filepath.Join(dir, "main.tf")); string(body) != fmt.Sprint(i) {
				t.Errorf("v%d: main.tf = %q", i, body)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(commits, got); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
}

func TestGitWithoutCache(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, _, second := gitMainTF(t, s)
	for client, fetcher := range gitClients {
		f := fetcher(t)
		f.CacheDir = ""
		var sizes []int64
		pkg, _, err := fetchGit(t, f, getmodules.Request{
			Package:  s.address(r, ""),
			Progress: func(done, _ int64) { sizes = append(sizes, done) },
		})
		if err != nil || pkg.Revision != second {
			t.Fatalf("FetchGit by %s = %+v, %v, want %s", client, pkg, err, second)
		}
		if len(sizes) == 0 || sizes[len(sizes)-1] != pkg.Bytes || pkg.Bytes == 0 {
			t.Errorf("%s: Progress was told %d, and Bytes = %d, want the same", client, sizes, pkg.Bytes)
		}
	}
}
