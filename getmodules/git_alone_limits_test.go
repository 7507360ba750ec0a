package getmodules_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestBuiltInCommits fetches commits that no ref points to.
func TestBuiltInCommits(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	address := s.address(r, "")
	pkg, _, err := fetchGit(t, newBuiltInFetcher(t), getmodules.Request{Package: address, Revision: first})
	if err != nil || pkg.Revision != first {
		t.Fatalf("FetchGit(%s) = %+v, %v", first, pkg, err)
	}
	for _, none := range []string{strings.Repeat("0", 39) + "1", r.git("", "rev-parse", second+"^{tree}")} {
		if _, _, err := fetchGit(t, newBuiltInFetcher(t), getmodules.Request{Package: address, Revision: none}); err == nil {
			t.Errorf("FetchGit(%s) succeeds", none)
		}
	}
	if _, _, err := fetchGit(t, newBuiltInFetcher(t), getmodules.Request{Package: address, Revision: strings.Repeat("0", 39) + "1"}); !errors.Is(err, getmodules.ErrRevisionNotFound) {
		t.Errorf("FetchGit of a commit that does not exist = %v, want ErrRevisionNotFound", err)
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
		"git://" + newGitDaemon(t, s.root) + "/new.git": `the address is for "git"`, s.URL + "/new.git?ref=" + commit[:9]: "installed git",
	} {
		_, err := builtInFor(t, address)
		if !errors.Is(err, getmodules.ErrBuiltInGit) || !strings.Contains(err.Error(), says) {
			t.Errorf("FetchGit(%q) = %v, want ErrBuiltInGit and %q", address, err, says)
		}
	}
}

func TestBuiltInRefusedAddresses(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, _, _ := gitMainTF(t, s)
	local := addrs.ParseModulePackage("git::file://" + r.dir)
	remote := addrs.ParseModulePackage("git::" + s.URL + "/net.git")
	tests := []struct {
		req getmodules.Request
		env string
	}{
		{req: getmodules.Request{Package: local, FromPackage: true}},
		{req: getmodules.Request{Package: local, FromServer: true, Origin: s.URL}},
		{req: getmodules.Request{Package: remote, FromServer: true, Origin: "https://registry.example"}},
		{req: getmodules.Request{Package: remote}, env: "GIT_ALLOW_PROTOCOL=https:ssh"},
		{req: getmodules.Request{Package: local}, env: "GIT_ALLOW_PROTOCOL=http"},
		{req: getmodules.Request{Package: remote, Revision: "main"}},
		{req: getmodules.Request{Package: remote.WithArg("ref", "main~1")}},
		{req: getmodules.Request{Package: addrs.ParseModulePackage("git::ext::sh -c id")}},
		{req: getmodules.Request{Package: addrs.ParseModulePackage("git::ssh://-oProxyCommand=x/n.git")}},
		// Credentials are never sent unencrypted.
		{req: getmodules.Request{Package: addrs.ParseModulePackage("git::http://u:p@git.example.com/net.git")}},
	}
	for _, tt := range tests {
		s.count()
		if _, _, err := fetchGit(t, newBuiltInFetcher(t, tt.env), tt.req); err == nil || s.count() > 0 {
			t.Errorf("FetchGit(%+v) with %q = %v, want an error and no request", tt.req, tt.env, err)
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
