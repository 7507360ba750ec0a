package getmodules_test

import (
	"errors"
	"fmt"
	"os"
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
)

// newWireFetcher returns a fetcher that uses git only if it has to.
func newWireFetcher(t testing.TB, env ...string) *getmodules.Fetcher {
	t.Helper()
	f := newGitFetcher(t, env...)
	return &getmodules.Fetcher{CacheDir: f.CacheDir, Git: getmodules.Git{Env: f.Git.Env}, Backoff: func(int) time.Duration { return 0 }}
}

// newGitlessFetcher returns a fetcher that has no git to fall back to.
func newGitlessFetcher(t testing.TB) *getmodules.Fetcher {
	t.Helper()
	return &getmodules.Fetcher{CacheDir: t.TempDir(), Git: getmodules.Git{Path: filepath.Join(t.TempDir(), "none"), Env: []string{"GIT_CONFIG_NOSYSTEM=1"}}}
}

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
// and returns the number of requests that the latter made. Git fetches from gitBase:
// either the server itself, or its directory, which needs fewer processes.
func wireSame(t *testing.T, s *gitServer, gitBase string, req getmodules.Request, limits getmodules.Limits) int {
	t.Helper()
	git, wire := newGitFetcher(t), newWireFetcher(t)
	git.Limits, wire.Limits = limits, limits
	gitReq := req
	gitReq.Package = addrs.ParseModulePackage(strings.Replace(req.Package.String(), s.URL, gitBase, 1))
	want := wireResult(t, git, gitReq)
	if want.Package != nil {
		want.Package.Resolved = addrs.ParseModulePackage(strings.Replace(want.Package.Resolved.String(), gitBase, s.URL, 1))
	}
	s.count()
	got := wireResult(t, wire, req)
	requests := s.count()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(getmodules.Package{}, "Bytes")); diff != "" {
		t.Errorf("FetchGit(%q at %q) (-git +wire):\n%s", req.Package, req.Revision, diff)
	}
	if got.Package != nil && got.Package.Bytes == 0 {
		t.Errorf("FetchGit(%q at %q).Bytes = 0", req.Package, req.Revision)
	}
	return requests
}

// TestWireTrees compares the results for all kinds of trees, valid and invalid.
func TestWireTrees(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 1\n"
	r.commit("everything",
		gitFile{path: "main.tf", content: "x\r\n$Id$\n"}, gitFile{path: "empty"},
		gitFile{path: "bin/run", mode: "100755", content: "#!/bin/sh\n"},
		gitFile{path: "a/b/c/deep.tf", content: "deep"}, gitFile{path: "a.b", content: "x"}, gitFile{path: "a-b/c", content: "x"},
		gitFile{path: "link", mode: "120000", content: "a/b/c/deep.tf"}, gitFile{path: "dirlink", mode: "120000", content: "a/b"},
		gitFile{path: "vendored", mode: "160000", content: strings.Repeat("1", 40)},
		gitFile{path: "big.zip", content: pointer}, gitFile{path: ".gitattributes", content: "* text eol=crlf ident\n"},
		gitFile{path: "noise", content: wireNoise(1 << 18)})
	r.commit("large", gitFile{path: ".gitattributes", content: "* text eol=crlf ident\n"},
		gitFile{path: "large", content: strings.Repeat("large\n", 3<<19)}) // more than v2Memory
	r.commit("many", wireManyFiles()...)
	r.git("", "repack", "--quiet", "-adf", "--depth=200", "--window=20")
	r.commit("huge", gitFile{path: "huge", content: strings.Repeat("x", 17<<20)}, gitFile{path: "small", content: "x"}) // more than v2Object
	blob := r.blob("x")
	r.rawCommit("old", gitRawEntry{"040000", "sub", r.rawTree(gitRawEntry{"100664", "x.tf", blob})})
	r.rawCommit("hollow", gitRawEntry{"40000", "empty", r.rawTree()}, gitRawEntry{"100644", "x", blob})
	r.rawCommit("nothing")
	r.rawCommit("git", gitRawEntry{"40000", ".git", r.rawTree(gitRawEntry{"100644", "x", blob})})
	r.rawCommit("twice", gitRawEntry{"100644", "x", blob}, gitRawEntry{"100644", "x", r.blob("y")})
	r.rawCommit("unsorted", gitRawEntry{"100644", "x", blob}, gitRawEntry{"100644", "a", blob})
	r.rawCommit("both", gitRawEntry{"100644", "a", blob}, gitRawEntry{"40000", "a", r.rawTree(gitRawEntry{"100644", "x", blob})})
	r.rawCommit("outside", gitRawEntry{"120000", "a", r.blob("../../etc")})
	for _, tt := range []struct {
		ref      string
		requests int
	}{
		{"everything", 2}, {"large", 2}, {"many", 2}, {"old", 2}, {"hollow", 2},
		{"huge", 2 + 3}, {"unsorted", 2 + 3}, {"twice", 2 + 3},
		{"nothing", 2}, {"outside", 2},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			if n := wireSame(t, s, "file://"+s.root, getmodules.Request{Package: s.address(r, "ref="+tt.ref)}, getmodules.Limits{}); n != tt.requests {
				t.Errorf("FetchGit(%q) made %d requests, want %d", tt.ref, n, tt.requests)
			}
		})
	}
	for _, ref := range []string{"git", "both"} { // git's error has a different text
		if _, _, err := fetchGit(t, newWireFetcher(t), getmodules.Request{Package: s.address(r, "ref="+ref)}); err == nil {
			t.Errorf("FetchGit(%q) = nil error", ref)
		}
	}
	for name, limits := range map[string]getmodules.Limits{
		"tree": {TreeBytes: 1 << 16}, "file": {FileBytes: 1 << 16}, "entries": {Entries: 5},
	} {
		t.Run("limited "+name, func(t *testing.T) {
			wireSame(t, s, "file://"+s.root, getmodules.Request{Package: s.address(r, "ref=everything")}, limits)
		})
	}
	f := newWireFetcher(t)
	f.Limits.DownloadBytes = 1 << 16
	if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=everything")}); !errors.Is(err, getmodules.ErrTooLarge) {
		t.Errorf("FetchGit over DownloadBytes = %v, want ErrTooLarge", err)
	}
}

// wireNoise returns text that compresses badly.
func wireNoise(size int) string {
	var b strings.Builder
	for state := uint64(88172645463325252); b.Len() < size; {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		fmt.Fprintf(&b, "%016x", state)
	}
	return b.String()[:size]
}

// wireManyFiles returns files that each differ a little from the previous one, so that git
// makes deltas of deltas.
func wireManyFiles() []gitFile {
	var files []gitFile
	body := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 30)
	for i := range 300 {
		body = body[:7*(i%150)] + fmt.Sprintf("line %d ", i*i) + body[7*(i%150)+6:]
		files = append(files, gitFile{path: fmt.Sprintf("d%d/e%d/f%d.tf", i%10, i%70, i), content: body})
	}
	return files
}

func TestWireWithoutGit(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	r.annotate("v1", first)
	f := newGitlessFetcher(t)
	pkg, dir, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=v1")})
	if err != nil || pkg.Revision != first {
		t.Fatalf("FetchGit = %+v, %v, want %s", pkg, err, first)
	}
	if body, _ := os.ReadFile(filepath.Join(dir, "main.tf")); string(body) != "# one\n" {
		t.Errorf("main.tf = %q", body)
	}
	_, _, err = fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=v2")})
	if !errors.Is(err, getmodules.ErrNoGit) || !errors.Is(err, getmodules.ErrRefNotFound) {
		t.Errorf("FetchGit of an unknown ref = %v, want both why there is no git and what went wrong without it", err)
	}
	f.AlwaysGit = true
	if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=v1")}); !errors.Is(err, getmodules.ErrNoGit) {
		t.Errorf("FetchGit with AlwaysGit = %v, want ErrNoGit", err)
	}
}

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
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*getmodules.Fetcher{"wire": newWireFetcher(t), "built-in": newBuiltInFetcher(t)} {
		s.count()
		got, err := f.Tags(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
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
