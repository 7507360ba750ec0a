package getmodules_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestGitRefusedAddresses checks addresses for which git must not even start. A stand-in
// for git records whether it is run.
func TestGitRefusedAddresses(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "ran")
	git := filepath.Join(t.TempDir(), "git")
	gitScript(t, git, "touch "+mark)
	local := "git::file://" + t.TempDir()
	tests := []getmodules.Request{
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=--upload-pack=touch x")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=--upload-pack%3Dtouch+x")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=-")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=a..b")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=a:b")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=%2Ba:b")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=refs/heads/*")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=%5Emain")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=main~1")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=v1%5E%7B%7D")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=a%0Ab")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=a%00b")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=" + strings.Repeat("a", 2000))},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?ref=%zz")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git#main")},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git"), Revision: "--upload-pack=id"},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git"), Revision: "main"},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git"), Revision: strings.Repeat("A", 40)},
		{Package: addrs.ParseModulePackage("git::https://example.com/n.git?sshkey=%21%21")},
		{Package: addrs.ParseModulePackage("git::https://example.com")},
		{Package: addrs.ParseModulePackage("git::https:///n.git")},
		{Package: addrs.ParseModulePackage("git::https:n.git")},
		{Package: addrs.ParseModulePackage("git::ssh://-oProxyCommand=touch%20x/n.git")},
		{Package: addrs.ParseModulePackage("git::ssh://-oProxyCommand=x@example.com/n.git")},
		{Package: addrs.ParseModulePackage("git::ssh://example.com/-n.git")},
		{Package: addrs.ParseModulePackage("git::ext::sh -c touch% x")},
		{Package: addrs.ParseModulePackage("git::fd::7")},
		{Package: addrs.ParseModulePackage("git::foo::bar")},
		{Package: addrs.ParseModulePackage("git::ext://x/y")},
		{Package: addrs.ParseModulePackage("git::ftp://example.com/n.git")},
		{Package: addrs.ParseModulePackage("git::-u/n.git")},
		{Package: addrs.ParseModulePackage("git::git::https://example.com/n.git")},
		{Package: addrs.ParseModulePackage("git::file://host/n.git")},
		{Package: addrs.ParseModulePackage(local), FromPackage: true},
		{Package: addrs.ParseModulePackage(local), FromServer: true, Origin: "https://example.com"},
		{Package: addrs.ParseModulePackage(local), FromServer: true, Origin: "http://127.0.0.1:1"},
		{Package: addrs.ParseModulePackage("git::http://example.com/n.git"), FromServer: true, Origin: "https://example.com"},
		{Package: addrs.ParseModulePackage("git::http://example.com/n.git"), FromServer: true, Origin: "http://127.0.0.1:1"},
		{Package: addrs.ParseModulePackage("git::http://127.0.0.1/n.git"), FromServer: true, Origin: "https://example.com"},
		{Package: addrs.ParseModulePackage("git::git://example.com/n.git"), FromServer: true, Origin: "https://example.com"},
	}
	for _, req := range tests {
		f := &getmodules.Fetcher{CacheDir: t.TempDir(), Git: getmodules.Git{Path: git}}
		if _, _, err := fetchGit(t, f, req); err == nil {
			t.Errorf("FetchGit(%+v) = nil error", req)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("FetchGit(%+v) started git", req)
		}
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

// TestGitSSH runs the ssh transport with a stand-in for ssh.
func TestGitSSH(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	r := newGitRepo(t, root, "net.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	// The last argument of ssh is the command for the remote side.
	gitScript(t, filepath.Join(bin, "ssh"), fmt.Sprintf(`
printf '%%s\n' "$*" >> %[1]s
key=
while [ $# -gt 1 ]; do
	if [ "$1" = -i ]; then key=$2; fi
	shift
done
if [ -n "$key" ]; then ls -l "$key" >> %[1]s; cat "$key" >> %[1]s; fi
exec sh -c "$1"`, log))
	key := base64.StdEncoding.EncodeToString([]byte("PRIVATE>>KEY??"))
	pkg := addrs.ParseModulePackage("git::ssh://git:password@host.example:2222" + r.dir + "?ref=main&sshkey=" + key)
	got, _, err := fetchGit(t, newGitFetcher(t, "PATH="+bin+":"+os.Getenv("PATH")), getmodules.Request{Package: pkg})
	if err != nil || got.Revision != commit {
		t.Fatalf("FetchGit = %+v, %v, want %s", got, err, commit)
	}
	body, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-o BatchMode=yes -i ", "git@host.example", "2222", "-rw------- ", "PRIVATE>>KEY??"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("ssh got %q, want %q in it", body, want)
		}
	}
	if strings.Contains(string(body), "password") {
		t.Errorf("ssh got the password: %q", body)
	}
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
