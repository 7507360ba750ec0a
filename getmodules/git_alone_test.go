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

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
)

// newBuiltInFetcher returns a fetcher that uses the built-in client for everything and has
// no git program.
func newBuiltInFetcher(t testing.TB, env ...string) *getmodules.Fetcher {
	t.Helper()
	f := newAutoFetcher(t, env...)
	f.GitBackend = getmodules.GitBuiltIn
	return f
}

// newAutoFetcher returns a fetcher that has no git program.
func newAutoFetcher(t testing.TB, env ...string) *getmodules.Fetcher {
	t.Helper()
	env = append([]string{"PATH=" + t.TempDir(), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}, env...)
	return &getmodules.Fetcher{CacheDir: t.TempDir(), Git: getmodules.Git{Env: env}}
}

// gitEverything returns a repository with every kind of tree entry, a history that git
// packs as deltas, and refs of every kind. tip is the last commit of main; middle is a
// commit that no ref points to.
func gitEverything(t testing.TB, root string) (r *gitRepo, tip, middle string) {
	t.Helper()
	r = newGitRepo(t, root, "all.git")
	long := strings.Repeat("a line of some length, so that packs hold differences\n", 400)
	var commits []string
	for i := range 6 {
		commits = append(commits, r.commit("main",
			gitFile{path: "main.tf", content: fmt.Sprintf("# %d\n", i)},
			gitFile{path: "long.tf", content: fmt.Sprintf("%s# %d\n%s", long, i, long)},
			gitFile{path: ".gitattributes", content: "*.tf eol=crlf ident filter=x\nexport export-ignore\n"},
			gitFile{path: "export/id.tf", content: "$Id$\r\n"},
			gitFile{path: "bin/run", mode: "100755", content: "#!/bin/sh\n"},
			gitFile{path: "a/b/c/d/é.tf", content: ""},
			gitFile{path: "link", mode: "120000", content: "a/b"},
			gitFile{path: "sub", mode: "160000", content: strings.Repeat("1", 40)},
			gitFile{path: "big.bin", content: "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"},
		))
	}
	middle, tip = commits[2], commits[5]
	r.setRef("refs/tags/v1.0.0", commits[0])
	r.annotate("v1.1.0", commits[1])
	r.annotateTag("twice", "v1.1.0")
	r.annotate("both", commits[1])
	r.setRef("refs/heads/both", commits[3])
	r.setRef("refs/heads/feat/x", commits[1])
	r.setRef("refs/heads/tags/odd", commits[1])
	r.setRef("refs/heads/"+commits[0], commits[1])
	r.setRef("refs/pull/1/head", commits[4])
	r.setRef("refs/v1.0.0", tip)
	r.git("", "repack", "-adfq", "--depth=50")
	return r, tip, middle
}

// sameAsGitQueries returns the queries for which the built-in client must return the same
// result as git. The commits are those returned by gitEverything.
func sameAsGitQueries(tip, middle string) []string {
	return []string{
		"", "ref=", "ref=v1.0.0", "ref=v1.1.0", "ref=twice", "ref=both", "ref=refs/heads/both", "ref=refs/tags/v1.0.0", "ref=main",
		"ref=refs/heads/feat/x", "ref=feat%2Fx", "ref=heads/feat/x", "ref=tags/odd", "ref=tags/v1.1.0", "ref=refs/pull/1/head",
		"ref=" + tip, "ref=" + middle, "ref=" + strings.ToUpper(middle), "ref=" + middle[:7], "ref=" + tip[:12], "ref=main&depth=1",
		"ref=none", "ref=1.1.0", "ref=refs/tags/main", "ref=" + strings.Repeat("0", 39) + "1", "ref=00000",
	}
}

// TestBuiltInSameAsGit compares the results of the built-in client with those of git, for
// each form of a ref and each transport that needs no login. The result of git does not
// depend on the transport, so git fetches from the local repository.
func TestBuiltInSameAsGit(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, tip, middle := gitEverything(t, s.root)
	local := "file://" + r.dir
	servers := []string{s.URL + "/all.git", "git://" + newGitDaemon(t, s.root) + "/all.git"}
	short := regexp.MustCompile("^ref=[0-9a-f]{4,39}$")
	for i, query := range testenv.Sample(sameAsGitQueries(tip, middle)) {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			want := outcome(t, newGitFetcher(t), local, query)
			same := func(f *getmodules.Fetcher, base string) {
				t.Helper()
				if diff := cmp.Diff(want, outcome(t, f, base, query)); diff != "" {
					t.Errorf("%s?%s (-git +got):\n%s", base, query, diff)
				}
			}
			if _, err := builtInFor(t, servers[0]+"?"+query); short.MatchString(query) {
				if !errors.Is(err, getmodules.ErrBuiltInGit) {
					t.Errorf("without git, an abbreviated commit: %v", err)
				}
			} else {
				same(newBuiltInFetcher(t), servers[0])
			}
			for j, server := range servers {
				if *exhaustive || i == j {
					same(newGitFetcher(t), server)
				}
			}
		})
	}
}

// fetchOutcome is the part of a result that must be the same for both clients.
type fetchOutcome struct {
	Revision, Resolved string
	H1, T1             hashing.Hash
	Gitlinks, Warnings []string
	Failed             string
	Near               []string
}

// outcome fetches from a repository. The result does not depend on the repository's
// location.
func outcome(t *testing.T, f *getmodules.Fetcher, base, query string) fetchOutcome {
	t.Helper()
	pkg, dir, err := fetchGit(t, f, getmodules.Request{Package: addrs.ParseModulePackage("git::" + base + "?" + query)})
	var o fetchOutcome
	if err != nil {
		for _, kind := range []error{getmodules.ErrRefNotFound, getmodules.ErrRevisionNotFound, getmodules.ErrAuthentication} {
			if errors.Is(err, kind) {
				o.Failed += kind.Error()
			}
		}
		if notFound := (*getmodules.RefNotFoundError)(nil); errors.As(err, &notFound) {
			o.Near = slices.Sorted(slices.Values(notFound.Near))
		}
		if o.Failed == "" {
			o.Failed = err.Error()
		}
		return o
	}
	sums, err := hashing.ReadTree(t.Context(), os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	o.Revision, o.Resolved = pkg.Revision, strings.Replace(pkg.Resolved.String(), base, "BASE", 1)
	o.H1, o.T1, o.Gitlinks = sums.H1(), sums.T1(), pkg.Gitlinks
	o.Warnings = pkg.Warnings
	return o
}

func TestBuiltInWarnsOnce(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitMainTF(t, s)
	req := getmodules.Request{Package: addrs.ParseModulePackage("git::" + s.URL + "/net.git")}
	f := newAutoFetcher(t, "GIT_HTTP_LOW_SPEED_TIME=100")
	pkg, _, err := fetchGit(t, f, req)
	if err != nil || len(pkg.FetchWarnings) != 1 || !strings.HasPrefix(pkg.FetchWarnings[0], "git is not installed, so your git configuration is not read") {
		t.Fatalf("FetchGit = %+v, %v, want a warning", pkg, err)
	}
	if pkg, _, err = fetchGit(t, f, req); err != nil || len(pkg.FetchWarnings) != 0 {
		t.Errorf("the second FetchGit = %+v, %v, want no more warnings", pkg, err)
	}
	chosen := newGitFetcher(t)
	chosen.AlwaysGit, chosen.GitBackend, chosen.Git.Env = false, getmodules.GitBuiltIn, append(chosen.Git.Env, "GIT_HTTP_LOW_SPEED_TIME=100")
	if pkg, _, err = fetchGit(t, chosen, req); err != nil || len(pkg.FetchWarnings) != 1 || strings.Contains(pkg.FetchWarnings[0], "not installed") {
		t.Errorf("FetchGit by choice = %+v, %v, want another warning", pkg, err)
	}
	if pkg, _, err = fetchGit(t, newAutoFetcher(t), req); err != nil || len(pkg.FetchWarnings) != 0 {
		t.Errorf("FetchGit without a git configuration = %+v, %v, want no warning", pkg, err)
	}
}

func TestGitBackendChoice(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	local := getmodules.Request{Package: addrs.ParseModulePackage("git::file://" + r.dir)}
	remote := getmodules.Request{Package: addrs.ParseModulePackage("git::" + s.URL + "/net.git"), Revision: first}

	f := newAutoFetcher(t)
	f.GitBackend = getmodules.GitInstalled
	always := newAutoFetcher(t)
	always.AlwaysGit = true
	for _, req := range []getmodules.Request{local, remote} {
		for _, f := range []*getmodules.Fetcher{f, always} {
			if _, _, err := fetchGit(t, f, req); !errors.Is(err, getmodules.ErrNoGit) {
				t.Errorf("FetchGit(%s) without git = %v, want ErrNoGit", req.Package, err)
			}
		}
	}
	// If the installed git does not work, the fetch fails instead of ignoring the user's
	// git configuration.
	dir := t.TempDir()
	gitScript(t, filepath.Join(dir, "git"), "echo git version 1.0.0")
	if _, _, err := fetchGit(t, newAutoFetcher(t, "PATH="+dir), local); !errors.Is(err, getmodules.ErrNoGit) {
		t.Errorf("FetchGit with an old git = %v, want ErrNoGit", err)
	}
	// A fetch that needs no git succeeds without a warning.
	pkg, _, err := fetchGit(t, newAutoFetcher(t), remote)
	if err != nil || pkg.Revision != first || len(pkg.FetchWarnings) > 0 || s.count() != 1 {
		t.Errorf("FetchGit of a commit = %+v, %v, want one request and no warning", pkg, err)
	}
	// A fetch that would need git uses the built-in client and reports a warning.
	if pkg, _, err := fetchGit(t, newAutoFetcher(t, "GIT_HTTP_LOW_SPEED_TIME=100"), remote); err != nil || pkg.Revision != first || len(pkg.FetchWarnings) != 1 {
		t.Errorf("FetchGit with settings for git = %+v, %v, want a warning", pkg, err)
	}
	remote.Package, remote.Revision = remote.Package.WithArg("ref", "none"), ""
	if _, _, err := fetchGit(t, newAutoFetcher(t), remote); !errors.Is(err, getmodules.ErrRefNotFound) {
		t.Errorf("FetchGit of an unknown ref = %v, want ErrRefNotFound", err)
	}
}

func TestBuiltInReference(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, middle := gitEverything(t, s.root)
	for _, query := range []string{"", "ref=v1.0.0", "ref=v1.1.0", "ref=twice", "ref=both", "ref=main", "ref=tags/odd", "ref=refs/pull/1/head", "ref=" + middle, "ref=none"} {
		req := getmodules.Request{Package: addrs.ParseModulePackage("git::" + s.URL + "/all.git?" + query)}
		want, wantErr := newGitFetcher(t).Reference(t.Context(), req)
		got, err := newBuiltInFetcher(t).Reference(t.Context(), req)
		if got != want || errors.Is(err, getmodules.ErrRefNotFound) != errors.Is(wantErr, getmodules.ErrRefNotFound) {
			t.Errorf("Reference(%q) = %+v, %v, git says %+v, %v", query, got, err, want, wantErr)
		}
	}
}

func TestBuiltInTags(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitEverything(t, s.root)
	for _, base := range []string{s.URL + "/all.git"} {
		req := getmodules.Request{Package: addrs.ParseModulePackage("git::" + base)}
		want, err := newGitFetcher(t).Tags(t.Context(), req)
		if err != nil || len(want) != 4 {
			t.Fatalf("Tags by git = %v, %v", want, err)
		}
		got, err := newBuiltInFetcher(t).Tags(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		byName := func(a, b getmodules.Tag) int { return strings.Compare(a.Name, b.Name) }
		slices.SortFunc(want, byName)
		slices.SortFunc(got, byName)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Tags of %s (-git +built-in):\n%s", base, diff)
		}
	}
}
