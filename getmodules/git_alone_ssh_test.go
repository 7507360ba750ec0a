package getmodules_test

import (
	"encoding/base64"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

func TestBuiltInSSH(t *testing.T) {
	t.Parallel()
	t.Run("OpenSSH", func(t *testing.T) {
		t.Parallel()
		testBuiltInSSH(t, newSSHServer(t))
	})
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		testBuiltInSSH(t, newGoSSH(t))
	})
}

// sshCase is a test case: a home directory, an environment, a repository, and the expected
// outcome. If want is nil, the fetch must succeed.
type sshCase struct {
	name string
	home map[string]string
	env  []string
	repo string // relative to the directory of the repositories
	want error
	says []string
}

func testBuiltInSSH(t *testing.T, s *sshServer) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "it's a dir")
	r := newGitRepo(t, root, "net.git")
	older := r.commit("main", gitFile{path: "main.tf", content: "x"})
	commit := r.commit("main", gitFile{path: "main.tf", content: "y"})
	known := map[string]string{"known_hosts": s.knows(s.ed25519) + "\n"}
	with := func(name, text string) map[string]string {
		return map[string]string{"known_hosts": known["known_hosts"], name: text}
	}
	argument := "sshkey=" + url.QueryEscape(base64.StdEncoding.EncodeToString(s.client.pem))
	hashed := strings.Replace(s.knows(s.ed25519), knownhosts.Normalize(s.address), knownhosts.HashHostname(knownhosts.Normalize(s.address)), 1)

	for _, tt := range []sshCase{
		{name: "key file", home: with("id_ed25519", string(s.client.pem)), repo: "/net.git"},
		{name: "second key file", home: map[string]string{"known_hosts": known["known_hosts"], "id_ed25519": string(newSSHKey(t).pem), "id_rsa": string(s.client.pem)}, repo: "/net.git?ref=" + commit},
		{name: "key in the address", home: known, repo: "/net.git?ref=main&" + argument},
		{name: "agent", home: known, env: []string{"SSH_AUTH_SOCK=" + serveAgent(t, s.client)}, repo: "/net.git"},
		{name: "agent that is gone", home: with("id_ecdsa", string(s.client.pem)), env: []string{"SSH_AUTH_SOCK=/does/not/exist"}, repo: "/net.git"},
		{name: "known by another key", home: map[string]string{"known_hosts": s.knows(s.rsa), "id_ed25519": string(s.client.pem)}, repo: "/net.git"},
		{name: "hashed", home: map[string]string{"known_hosts": hashed, "id_ed25519": string(s.client.pem)}, repo: "/net.git"},

		{name: "unknown host", home: map[string]string{"known_hosts": "", "id_ed25519": string(s.client.pem)}, repo: "/net.git", want: getmodules.ErrHostUntrusted, says: []string{"SHA256:", "is not known", "known_hosts"}},
		{name: "no known_hosts", home: map[string]string{"id_ed25519": string(s.client.pem)}, repo: "/net.git", want: getmodules.ErrHostUntrusted, says: []string{"known_hosts"}},
		{name: "changed host", home: map[string]string{"known_hosts": s.knows(newSSHKey(t)), "id_ed25519": string(s.client.pem)}, repo: "/net.git", want: getmodules.ErrHostUntrusted, says: []string{"attack"}},
		{name: "revoked host", home: with("known_hosts", "@revoked * "+s.ed25519.line()+"\n"+s.knows(s.ed25519)), repo: "/net.git", want: getmodules.ErrHostUntrusted},
		{name: "malformed known_hosts", home: map[string]string{"known_hosts": "h ssh-ed25519 ???\n"}, repo: "/net.git", want: getmodules.ErrHostUntrusted},
		{name: "no key", home: known, repo: "/net.git", want: getmodules.ErrAuthentication, says: []string{"no key to offer", "install git"}},
		{name: "wrong key", home: with("id_ed25519", string(newSSHKey(t).pem)), repo: "/net.git", want: getmodules.ErrAuthentication, says: []string{"~/.ssh/id_ed25519"}},
		{name: "locked key", home: with("id_rsa", lockedClientFile(t)), repo: "/net.git", want: getmodules.ErrAuthentication, says: []string{"passphrase", "~/.ssh/id_rsa"}},
		{name: "no key in the address", home: known, repo: "/net.git?sshkey=" + base64.StdEncoding.EncodeToString([]byte("none")), want: getmodules.ErrAuthentication, says: []string{"sshkey"}},
		{name: "no repository", home: with("id_ed25519", string(s.client.pem)), repo: "/none.git", want: getmodules.ErrRepositoryNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for name, text := range tt.home {
				writeFile(t, filepath.Join(home, ".ssh", name), text)
			}
			path, query, _ := strings.Cut(tt.repo, "?")
			u := url.URL{Scheme: "ssh", User: url.User(s.user), Host: s.address, Path: root + path, RawQuery: query}
			f := newBuiltInFetcher(t, append(tt.env, "HOME="+home)...)
			req := getmodules.Request{Package: addrs.ParseModulePackage("git::" + u.String())}
			pkg, _, err := fetchGit(t, f, req)
			if tt.want == nil {
				if err != nil || pkg.Revision != commit {
					t.Fatalf("FetchGit = %+v, %v, want %s", pkg, err, commit)
				}
				if reach, err := f.Reachable(t.Context(), req, getmodules.LockedCommit{Revision: older}); err != nil || reach[older].Result != getmodules.Reachable {
					t.Errorf("Reachable = %+v, %v", reach, err)
				}
				return
			}
			if !errors.Is(err, tt.want) {
				t.Fatalf("FetchGit = %v, want %v", err, tt.want)
			}
			for _, says := range tt.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("FetchGit = %q, want %q in it", err, says)
				}
			}
		})
	}
}

func serveAgent(t *testing.T, keys ...sshKey) string {
	t.Helper()
	ring := agent.NewKeyring()
	for _, key := range keys {
		if err := ring.Add(agent.AddedKey{PrivateKey: key.private}); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, c) }()
		}
	}()
	return socket
}
