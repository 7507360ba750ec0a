package getmodules_test

import (
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestGitClient checks which client would fetch a repository, and the reason for it.
func TestGitClient(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "git")
	setting := func(name, value string) *getmodules.Fetcher {
		return newWireFetcher(t, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0="+name, "GIT_CONFIG_VALUE_0="+value)
	}
	const plain, ssh = "git::https://git.example.com/net.git?ref=v1", "git::ssh://git@git.example.com/net.git"
	for name, test := range map[string]struct {
		address string
		fetcher *getmodules.Fetcher
		want    getmodules.GitClient
	}{
		"plain":     {plain, newWireFetcher(t), getmodules.GitClient{InProcess: true}},
		"no git":    {plain, newAutoFetcher(t), getmodules.GitClient{InProcess: true, Alone: true}},
		"ssh":       {ssh, newWireFetcher(t), getmodules.GitClient{InProcess: true, SSH: true}},
		"other ssh": {ssh, newWireFetcher(t, "GIT_SSH=plink"), getmodules.GitClient{SSH: true, Reason: "the ssh program of git's settings is not OpenSSH"}},
		"ssh of a rule": {plain, setting("url.git@git.example.com:.insteadOf", "https://git.example.com/"), getmodules.GitClient{
			InProcess: true, SSH: true, Setting: "url.git.example.com:.insteadOf = https://git.example.com/",
		}},
		"a rule's credentials": {plain, setting("url.https://u:p@mirror.example.com/.insteadOf", "https://git.example.com/"), getmodules.GitClient{
			InProcess: true, Setting: "url.https://mirror.example.com/.insteadOf = https://git.example.com/", SettingCredentials: true,
		}},
		"credentials": {"git::https://u:p@git.example.com/net.git", newWireFetcher(t), getmodules.GitClient{InProcess: true}},
		"header":      {plain, setting("http.extraHeader", "a: b"), getmodules.GitClient{InProcess: true}},
		"cookies":     {plain, setting("http.cookieFile", "a"), getmodules.GitClient{Reason: "git has a setting for it: http.cookiefile"}},
		"environment": {plain, newWireFetcher(t, "GIT_SSL_CIPHER_LIST=x"), getmodules.GitClient{Reason: "git has a setting for it: GIT_SSL_CIPHER_LIST"}},
		"query":       {plain + "&x=1", newWireFetcher(t), getmodules.GitClient{Reason: "the address has arguments for the server"}},
		"key of ssh":  {plain + "&sshkey=a2V5", newWireFetcher(t), getmodules.GitClient{InProcess: true}},
		"always":      {plain, newGitFetcher(t), getmodules.GitClient{Reason: `the git backend is set to "git"`}},
		"ssh, no git": {ssh, newAutoFetcher(t), getmodules.GitClient{SSH: true, Alone: true, Reason: "ssh sources need git"}},
		"alone":       {plain, newBuiltInFetcher(t), getmodules.GitClient{InProcess: true, Alone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.fetcher.GitClient(t.Context(), addrs.ParseModulePackage(test.address))
			host := "git.example.com"
			if test.want.SettingCredentials {
				host = "mirror.example.com"
			}
			if err != nil || got.URL.Host != host || got.URL.Scheme == "https" && got.URL.User != nil {
				t.Fatalf("GitClient = %+v, %v; want the host %s without credentials", got, err, host)
			}
			if got.URL = nil; got != test.want {
				t.Errorf("GitClient = %+v; want %+v", got, test.want)
			}
		})
	}
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
	chosen.GitBackend, chosen.Git.Env = getmodules.GitBuiltIn, append(chosen.Git.Env, "GIT_HTTP_LOW_SPEED_TIME=100")
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
	for _, req := range []getmodules.Request{local, remote} {
		if _, _, err := fetchGit(t, f, req); !errors.Is(err, getmodules.ErrNoGit) {
			t.Errorf("FetchGit(%s) without git = %v, want ErrNoGit", req.Package, err)
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
}

// TestWireWithoutGit fetches if the git program of the settings does not exist.
func TestWireWithoutGit(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	r.annotate("v1", first)
	f := newGitlessFetcher(t)
	if pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=v1")}); err != nil || pkg.Revision != first {
		t.Fatalf("FetchGit = %+v, %v, want %s", pkg, err, first)
	}
	_, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=v2")})
	if !errors.Is(err, getmodules.ErrNoGit) || !errors.Is(err, getmodules.ErrRefNotFound) {
		t.Errorf("FetchGit of an unknown ref = %v, want both why there is no git and what went wrong without it", err)
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
	testenv.WriteFile(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	testenv.Must(t, os.Chmod(file, 0o600))
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

// TestBuiltInCannot checks the error for repositories that need an installed git.
func TestBuiltInCannot(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "new.git", "--object-format=sha256")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	for address, says := range map[string]string{
		s.URL + "/new.git": "installed git", s.URL + "/new.git?ref=" + commit: "SHA-256", "file://" + r.dir: `the address is for "file"`,
		"git://" + newGitDaemon(t, s.root) + "/new.git": `the address is for "git"`, "ssh://git@git.example.com/new.git": "ssh sources need git", s.URL + "/new.git?ref=" + commit[:9]: "installed git",
	} {
		_, _, err := fetchGit(t, newBuiltInFetcher(t), getmodules.Request{Package: pkgOf("git::" + address)})
		if !errors.Is(err, getmodules.ErrBuiltInGit) || !strings.Contains(err.Error(), says) {
			t.Errorf("FetchGit(%q) = %v, want ErrBuiltInGit and %q", address, err, says)
		}
	}
}

// TestBuiltInKeepsOut checks that a fetch writes nothing but its tree, neither to the
// cache nor to the home directory.
func TestBuiltInKeepsOut(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, _ := gitMainTF(t, s)
	home := t.TempDir()
	f := newBuiltInFetcher(t, "HOME="+home)
	if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref="+first)}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{home, f.CacheDir} {
		if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
	if _, err := os.Stat(f.CacheDir); err != nil {
		t.Error(err)
	}
}
