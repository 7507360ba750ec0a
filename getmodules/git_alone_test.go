package getmodules_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
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
