package getmodules_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/internal/trace"
)

// TestSSH fetches and lists tags through a real sshd.
func TestSSH(t *testing.T) {
	t.Parallel()
	s := newSSHServer(t)
	r := newGitRepo(t, t.TempDir(), "net.git")
	older := r.commit("main", gitFile{path: "main.tf", content: "x"})
	commit := r.commit("main", gitFile{path: "main.tf", content: "y"})
	r.setRef("refs/tags/v1.0.0", commit)
	known, withKey := "  UserKnownHostsFile "+s.file("known_hosts")+"\n", s.withKey()
	inAddress := url.QueryEscape(base64.StdEncoding.EncodeToString(s.client.pem))
	full := fmt.Sprintf("git::ssh://%s@%s%s", s.user, s.address, r.dir)
	// Addresses in scp style name the user "git", which may not exist on this machine. An
	// insteadOf rule in the user's configuration replaces it.
	s.write(t, "gitconfig", fmt.Sprintf("[url \"ssh://%s@forge/\"]\n\tinsteadOf = ssh://git@forge/\n", s.user))
	for name, tt := range map[string]struct {
		address string
		config  string // client configuration for all hosts
		fails   error
		says    string
	}{
		"full address":       {address: full + "?ref=v1.0.0", config: withKey},
		"commit":             {address: full + "?ref=" + commit, config: withKey},
		"host of the config": {address: "git::ssh://forge" + r.dir + "?ref=main", config: withKey},
		"scp style":          {address: "git@forge:" + r.dir + "?ref=v1.0.0", config: withKey},
		"key in the address": {address: full + "?ref=v1.0.0&sshkey=" + inAddress, config: known},
		"no key":             {address: full, config: known + "  IdentityFile none", fails: getmodules.ErrAuthentication, says: "ssh agent"},
		"wrong key":          {address: full, config: known + "  IdentityFile " + s.file("other_key"), fails: getmodules.ErrAuthentication, says: "ssh agent"},
		"unknown host":       {address: full, config: "  UserKnownHostsFile /dev/null\n  IdentityFile " + s.file("user_key"), fails: getmodules.ErrHostUntrusted, says: "known_hosts"},
		"no such repository": {address: full + "x", config: withKey, fails: getmodules.ErrRepositoryNotFound},
		"no server":          {address: "git::ssh://127.0.0.1:1/x", config: withKey, fails: getmodules.ErrHostUnreachable},
	} {
		for client, always := range map[string]bool{"in process": false, "git": true} {
			t.Run(name+", "+client, func(t *testing.T) {
				t.Parallel()
				source, err := addrs.ParseModuleSource(tt.address)
				testenv.Must(t, err)
				f := newGitFetcher(t, s.clientConfig(t, tt.config), "GIT_CONFIG_GLOBAL="+s.file("gitconfig"))
				f.AlwaysGit = always
				req := getmodules.Request{Package: source.(addrs.ModuleSourceRemote).Package}
				ctx, programs := recordPrograms(t.Context())
				got, dir, err := fetchGitIn(ctx, t, f, req)
				if !always && slices.ContainsFunc(programs(), func(p string) bool { return p == "git fetch" }) {
					t.Errorf("the fetch ran %q, want no git", programs())
				}
				if tt.fails != nil {
					if !errors.Is(err, tt.fails) || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("Fetch(%q) = %v, want %v and %q", tt.address, err, tt.fails, tt.says)
					}
					return
				}
				if err != nil || got.Revision != commit || strings.Contains(got.Resolved.String(), "sshkey") {
					t.Fatalf("Fetch(%q) = %+v, %v; want %s", tt.address, got, err, commit)
				}
				if diff := cmp.Diff([]string{"ssh"}, programs()); !always && diff != "" {
					t.Errorf("programs of the fetch (-want +got):\n%s", diff)
				}
				if _, err := os.Stat(filepath.Join(dir, "main.tf")); err != nil {
					t.Error(err)
				}
				tags, err := f.Tags(t.Context(), req)
				if diff := cmp.Diff([]getmodules.Tag{{Name: "v1.0.0", Revision: commit}}, tags); err != nil || diff != "" {
					t.Errorf("Tags = %v (-want +got):\n%s", err, diff)
				}
				if reach, err := f.Reachable(t.Context(), req, getmodules.LockedCommit{Revision: older}); err != nil || reach[older].Result != getmodules.Reachable {
					t.Errorf("Reachable = %+v, %v", reach, err)
				}
				noKeysLeft(t, f.CacheDir, string(s.client.pem))
			})
		}
	}
}

// recordPrograms returns a context, and a function that returns the programs that have run in it, except
// those that only read the user's configuration.
func recordPrograms(ctx context.Context) (context.Context, func() []string) {
	var mu sync.Mutex
	var ran []string
	ctx = trace.With(ctx, func(ctx context.Context, op trace.Operation) (context.Context, func(error)) {
		mu.Lock()
		defer mu.Unlock()
		if name := strings.TrimSpace(op.Kind + " " + op.Name); (op.Kind == "git" || op.Kind == "ssh") && name != "git version" && name != "git config" {
			ran = append(ran, name)
		}
		return ctx, nil
	})
	return ctx, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(ran)
	}
}

// TestSSHFallback fetches from servers that do not support version 2 of the protocol, which git does,
// and with programs that only git can run.
func TestSSHFallback(t *testing.T) {
	t.Parallel()
	s := newSSHServer(t)
	r := newGitRepo(t, t.TempDir(), "net.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	ssh := s.clientConfig(t, s.withKey())
	command := strings.TrimPrefix(ssh, "GIT_SSH_COMMAND=")
	wrapper := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		testenv.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
		return path
	}
	for name, tt := range map[string]struct {
		env  []string
		want []string
	}{
		"old server":   {[]string{"GIT_SSH_COMMAND=env -u GIT_PROTOCOL " + command, "GIT_SSH_VARIANT=ssh"}, []string{"ssh", "git fetch"}},
		"wrapper":      {[]string{"GIT_SSH=" + wrapper("wrapper", "exec "+command+` "$@"`)}, []string{"ssh", "ssh"}}, // the first is ssh -G
		"only simple":  {[]string{"GIT_SSH=" + wrapper("wrapper", `case $1 in -*) exit 1;; esac; exec `+command+` "$@"`)}, []string{"ssh", "git fetch"}},
		"said simple":  {[]string{ssh, "GIT_SSH_VARIANT=simple"}, []string{"git fetch"}},
		"with a trace": {[]string{ssh, "GIT_TRACE_SETUP=/dev/null"}, []string{"git fetch"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newGitFetcher(t, tt.env...)
			f.AlwaysGit = false
			ctx, programs := recordPrograms(t.Context())
			req := getmodules.Request{Package: addrs.ParseModulePackage("git::ssh://forge" + r.dir + "?ref=main")}
			got, _, err := fetchGitIn(ctx, t, f, req)
			if err != nil || got.Revision != commit {
				t.Fatalf("Fetch = %+v, %v; want %s", got, err, commit)
			}
			ran := slices.DeleteFunc(programs(), func(p string) bool { return p == "git cat-file" || p == "git init" })
			if diff := cmp.Diff(tt.want, ran); diff != "" {
				t.Errorf("programs (-want +got):\n%s", diff)
			}
		})
	}
}

// noKeysLeft checks that no file in a directory contains the private key.
func noKeysLeft(t *testing.T, dir, key string) {
	t.Helper()
	for name, text := range tree(t, dir) {
		if strings.Contains(text, key) {
			t.Errorf("%s has the key", name)
		}
	}
}

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
		testenv.Must(t, ring.Add(agent.AddedKey{PrivateKey: key.private}))
	}
	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	testenv.Must(t, err)
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

// TestBuiltInSSHConfig fetches from host aliases in ~/.ssh/config. The built-in client
// uses a server in this process; git uses OpenSSH, if ssh is installed. TestBuiltInSSH
// covers the built-in client with OpenSSH.
func TestBuiltInSSHConfig(t *testing.T) {
	t.Parallel()
	t.Run("built in", func(t *testing.T) {
		t.Parallel()
		testBuiltInSSHConfig(t, newGoSSH(t), false)
	})
	t.Run("git", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("ssh"); err != nil {
			t.Skip("ssh is not installed")
		}
		testBuiltInSSHConfig(t, newSSHServer(t), true)
	})
}

func testBuiltInSSHConfig(t *testing.T, s *sshServer, git bool) {
	t.Helper()
	r := newGitRepo(t, t.TempDir(), "net.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	host, port, err := net.SplitHostPort(s.address)
	testenv.Must(t, err)
	server := fmt.Sprintf("  HostName %s\n  Port %s\n  User %s\n", host, port, s.user)
	withKey := server + "  IdentityFile HOME/.ssh/deploy\n"
	agent := serveAgent(t, newSSHKey(t), s.client)

	for _, tt := range []struct {
		name   string
		config string
		files  map[string]string // more files in .ssh
		agent  string
		want   error
		says   string
		// alone is what the error without git says, for what only git's ssh does. noGit says that git is
		// not tried.
		alone string
		noGit bool
	}{
		{name: "alias", config: "Host forge\n" + withKey},
		{name: "Match blocks", config: "Match host elsewhere exec \"exit 1\"\n  HostName 192.0.2.1\nHost forge\n" + withKey, alone: "Match"},
		{name: "Match blocks, with an equals sign", config: "Match=host elsewhere\n  HostName 192.0.2.1\nHost forge\n" + withKey, alone: "Match"},
		{name: "included, with a tab", config: "include\tHOME/.ssh/more\n", files: map[string]string{"more": "Host forge\n" + withKey}, alone: "include"},
		{name: "included", config: "Include HOME/.ssh/more\n", files: map[string]string{"more": "Host forge\n" + withKey}, alone: "Include"},
		{name: "key of the host", config: "Host forge\n  HostKeyAlias known\n" + withKey, files: map[string]string{"known_hosts": knownhosts.Line([]string{"known"}, s.ed25519.signer.PublicKey()) + "\n"}, alone: "HostKeyAlias"},
		{name: "alias is not known", config: "Host forge\n" + withKey, files: map[string]string{"known_hosts": knownhosts.Line([]string{"forge"}, s.ed25519.signer.PublicKey()) + "\n"}, want: getmodules.ErrHostUntrusted, says: s.address},
		{name: "no default keys", config: "Host forge\n" + server + "  IdentityFile HOME/.ssh/none\n", files: map[string]string{"id_ed25519": string(s.client.pem)}, want: getmodules.ErrAuthentication},
		{name: "agent", config: "Host forge\n" + server + "  IdentityAgent " + agent + "\n", alone: "IdentityAgent"},
		{name: "named key of agent", config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/named\n", files: map[string]string{"named": lockedClientFile(t)}, agent: agent, alone: "passphrase"},
		{name: "public key of agent", config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/named.pub\n", files: map[string]string{"named.pub": s.client.line() + "\n"}, agent: agent, alone: "no key to offer"},
		{name: "no key of agent", config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/none\n", agent: agent, want: getmodules.ErrAuthentication},
		{name: "proxy", config: "Host forge\n  ProxyJump none\n" + withKey},
		{name: "jump host", config: "Host forge\n  ProxyJump bastion\n" + withKey, noGit: true, alone: "ProxyJump"},
		{name: "proxy command", config: "Host *\n  ProxyCommand nc %h %p\nHost forge\n" + withKey, noGit: true, alone: "ProxyCommand"},
	} {
		if git && tt.noGit {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			files := map[string]string{"config": tt.config, "known_hosts": s.knows(s.ed25519) + "\n", "deploy": string(s.client.pem)}
			for name, text := range tt.files {
				files[name] = text
			}
			for name, text := range files {
				writeFile(t, filepath.Join(home, ".ssh", name), strings.ReplaceAll(text, "HOME", home))
			}
			req := getmodules.Request{Package: addrs.ParseModulePackage("git::ssh://forge" + r.dir)}
			env := []string{"HOME=" + home, "SSH_AUTH_SOCK=" + tt.agent}
			f := newBuiltInFetcher(t, env...)
			if git {
				f = newGitFetcher(t, append(env, sshOf(t, home))...)
			}
			pkg, _, err := fetchGit(t, f, req)
			switch {
			case !git && tt.alone != "":
				if err == nil || !strings.Contains(err.Error(), tt.alone) || !strings.Contains(err.Error(), "install") {
					t.Errorf("FetchGit without git = %v, want %q and the advice to install git", err, tt.alone)
				}
			case tt.want == nil && (err != nil || pkg.Revision != commit):
				t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, commit)
			case !errors.Is(err, tt.want):
				t.Errorf("FetchGit = %v, want %v", err, tt.want)
			case err != nil && !git && !strings.Contains(err.Error(), tt.says):
				t.Errorf("FetchGit = %q, want %q in it", err, tt.says)
			}
		})
	}
}

// sshOf returns the variable that makes git run ssh with the configuration in home,
// because ssh ignores HOME. It also makes the keys readable for their owner only, as ssh
// requires.
func sshOf(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, ".ssh")
	for _, name := range []string{"deploy", "named"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return "GIT_SSH_COMMAND=ssh -F " + filepath.Join(dir, "config") + " -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=" + filepath.Join(dir, "known_hosts")
}
