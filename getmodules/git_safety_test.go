package getmodules_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestGitRefusedRequests checks requests for which neither git is started nor a server asked. Package
// internal/hostile has addresses, and TestCheckLocation those that a server names.
func TestGitRefusedRequests(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, _, _ := gitMainTF(t, s)
	mark := filepath.Join(t.TempDir(), "ran")
	git := filepath.Join(t.TempDir(), "git")
	gitScript(t, git, "touch "+mark)
	remote := s.address(r, "")
	for _, tt := range []struct {
		req   getmodules.Request
		alone bool // with git, it is for git to refuse
		env   string
		says  string
	}{
		{req: getmodules.Request{Package: remote, Revision: "--upload-pack=id"}},
		{req: getmodules.Request{Package: remote, Revision: "main"}},
		{req: getmodules.Request{Package: remote, Revision: strings.Repeat("A", 40)}},
		{req: getmodules.Request{Package: remote.WithArg("ref", "main~1")}},
		{req: getmodules.Request{Package: pkgOf("git::" + s.URL + "/net.git?ref=%2Ba:b")}},
		{req: getmodules.Request{Package: s.address(r, "ref=v1.2.0+mine")}, says: `write "%2B" for a "+"`}, // it means a space
		{req: getmodules.Request{Package: pkgOf("git::file://" + r.dir), FromPackage: true}},
		{req: getmodules.Request{Package: pkgOf("git::file://" + r.dir), FromServer: true, Origin: s.URL}},
		{req: getmodules.Request{Package: remote, FromServer: true, Origin: "https://registry.example"}},
		{req: getmodules.Request{Package: remote}, alone: true, env: "GIT_ALLOW_PROTOCOL=https:ssh"},
		{req: getmodules.Request{Package: pkgOf("git::file://" + r.dir)}, alone: true, env: "GIT_ALLOW_PROTOCOL=http"},
		{req: getmodules.Request{Package: pkgOf("git::http://u:p@git.example.com/net.git")}, alone: true}, // credentials without encryption
	} {
		clients := map[string]*getmodules.Fetcher{"built in": newBuiltInFetcher(t, tt.env)}
		if !tt.alone {
			clients["git"] = &getmodules.Fetcher{CacheDir: t.TempDir(), Git: getmodules.Git{Path: git}}
		}
		for client, f := range clients {
			if _, _, err := fetchGit(t, f, tt.req); err == nil || !strings.Contains(err.Error(), tt.says) || s.count() > 0 {
				t.Errorf("FetchGit(%+v) by %s with %q = %v, want an error with %q and no request", tt.req, client, tt.env, err, tt.says)
			}
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("git was started")
	}
}

func TestGitAddress(t *testing.T) {
	t.Parallel()
	commit := strings.Repeat("c", 40)
	tests := []struct{ pkg, remote, ref, resolved string }{
		{"git::https://h.example/n.git", "https://h.example/n.git", "", "git::https://h.example/n.git?ref=" + commit},
		{"git::https://u:p@h.example/n.git?depth=1&ref=a/b", "https://h.example/n.git", "a/b", "git::https://h.example/n.git?ref=" + commit},
		{"git::https://tok@h.example:8443/n.git?x=1&ref=a", "https://h.example:8443/n.git?x=1", "a", "git::https://h.example:8443/n.git?x=REDACTED&ref=" + commit},
		{"git::ssh://git:secret@h.example/n.git?ref=a&sshkey=QUJD", "ssh://git@h.example/n.git", "a", "git::ssh://h.example/n.git?ref=" + commit},
		{"git::https://h.example/n.git?archive=false&checksum=x&version=~>1", "https://h.example/n.git", "", "git::https://h.example/n.git?ref=" + commit},
		{"git://h.example/n.git", "git://h.example/n.git", "", "git::git://h.example/n.git?ref=" + commit},
		{"git::file:///srv/n.git?", "file:///srv/n.git", "", "git::file:///srv/n.git?ref=" + commit},
	}
	for _, tt := range tests {
		remote, ref, resolved, err := getmodules.GitRemote(getmodules.Request{Package: addrs.ParseModulePackage(tt.pkg)}, commit)
		if err != nil || remote != tt.remote || ref != tt.ref || resolved != tt.resolved {
			t.Errorf("GitRemote(%q) = %q, %q, %q, %v, want %q, %q, %q", tt.pkg, remote, ref, resolved, err, tt.remote, tt.ref, tt.resolved)
		}
	}
}

func FuzzGitAddress(f *testing.F) {
	f.Add("git::https://u:p@h.example/n.git?ref=v1&depth=1")
	f.Add("git::ssh://git@h.example/n.git?sshkey=QUJD")
	f.Add("git::file:///srv/n.git?ref=-x")
	f.Add("git::ssh://h.example/sshkey=x.git")
	f.Add("ssh://:A:/0")
	f.Add("ssh://::A:/0")
	f.Fuzz(func(t *testing.T, pkg string) {
		remote, ref, resolved, err := getmodules.GitRemote(getmodules.Request{Package: addrs.ParseModulePackage(pkg)}, strings.Repeat("c", 40))
		if err != nil {
			return
		}
		u, err := url.Parse(remote)
		if err != nil || u.Scheme == "" || strings.HasPrefix(remote, "-") || strings.HasPrefix(ref, "-") || strings.HasPrefix(u.Host, "-") {
			t.Errorf("GitRemote(%q) = %q, %q", pkg, remote, ref)
		}
		if strings.ContainsAny(ref, " :+^*\x00\n") && !strings.Contains(ref, "+") {
			t.Errorf("GitRemote(%q) has the ref %q", pkg, ref)
		}
		_, query, _ := strings.Cut(resolved, "?")
		if !strings.HasPrefix(resolved, "git::") || strings.Contains("&"+query, "&sshkey=") {
			t.Errorf("GitRemote(%q) resolves to %q", pkg, resolved)
		}
	})
}

func TestGitLocalRepository(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := newGitRepo(t, root, "net.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	r.setRef("refs/tags/v1", r.head("refs/heads/main"))
	for _, base := range []string{"git::file://" + r.dir, "git::git://" + newGitDaemon(t, root) + "/net.git"} {
		for _, query := range []string{"", "?ref=v1", "?ref=" + commit, "?ref=" + commit[:7]} {
			pkg := addrs.ParseModulePackage(base + query)
			got, _, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: pkg})
			if err != nil || got.Revision != commit {
				t.Errorf("FetchGit(%q) = %+v, %v, want %s", pkg, got, err, commit)
			}
		}
	}
}
