package getmodules_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
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
	"github.com/cotterpin/cotter/internal/git"
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
		backend getmodules.GitBackend
		env     []string
		want    []string
	}{
		"only git":     {backend: getmodules.GitInstalled, env: []string{ssh}, want: []string{"git fetch"}},
		"old server":   {env: []string{"GIT_SSH_COMMAND=env -u GIT_PROTOCOL " + command, "GIT_SSH_VARIANT=ssh"}, want: []string{"ssh", "git fetch"}},
		"wrapper":      {env: []string{"GIT_SSH=" + wrapper("wrapper", "exec "+command+` "$@"`)}, want: []string{"ssh", "ssh"}}, // the first is ssh -G
		"only simple":  {env: []string{"GIT_SSH=" + wrapper("wrapper", `case $1 in -*) exit 1;; esac; exec `+command+` "$@"`)}, want: []string{"ssh", "git fetch"}},
		"said simple":  {env: []string{ssh, "GIT_SSH_VARIANT=simple"}, want: []string{"git fetch"}},
		"with a trace": {env: []string{ssh, "GIT_TRACE_SETUP=/dev/null"}, want: []string{"git fetch"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newGitFetcher(t, tt.env...)
			f.AlwaysGit, f.GitBackend = false, tt.backend
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

// TestBuiltInSSH fetches with the keys, known hosts and host aliases in ~/.ssh: without git from OpenSSH and from a
// server in this process, which works on every machine, and from host aliases by git, whose ssh has the same rules.
func TestBuiltInSSH(t *testing.T) {
	t.Parallel()
	for name, newServer := range map[string]func(*testing.T) *sshServer{
		"OpenSSH":    func(t *testing.T) *sshServer { return newSSHServer(t) },
		"in process": func(t *testing.T) *sshServer { return newGoSSH(t) },
		"git":        func(t *testing.T) *sshServer { return newSSHServer(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			byGit := name == "git"
			if _, err := exec.LookPath("ssh"); byGit && err != nil {
				t.Skip("ssh is not installed")
			}
			s := newServer(t)
			root := filepath.Join(t.TempDir(), "it's a dir")
			r := newGitRepo(t, root, "net.git")
			older := r.commit("main", gitFile{path: "main.tf", content: "x"})
			commit := r.commit("main", gitFile{path: "main.tf", content: "y"})
			for _, tt := range sshCases(t, s, commit) {
				if byGit && (tt.noGit || tt.files["config"] == "") {
					continue
				}
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					f, req := tt.fetcher(t, s, byGit), tt.request(s, root)
					pkg, _, err := fetchGit(t, f, req)
					if tt.want == nil && (byGit || !tt.needsGit) {
						if err != nil || pkg.Revision != commit {
							t.Fatalf("FetchGit = %+v, %v, want %s", pkg, err, commit)
						}
						if reach, err := f.Reachable(t.Context(), req, getmodules.LockedCommit{Revision: older}); err != nil || reach[older].Result != getmodules.Reachable {
							t.Errorf("Reachable = %+v, %v", reach, err)
						}
						return
					}
					if err == nil || !errors.Is(err, tt.want) && tt.want != nil {
						t.Fatalf("FetchGit = %v, want %v", err, tt.want)
					}
					if host, ok := errors.AsType[*git.HostError](err); tt.fault != git.UnknownFault && (!ok || host.Fault != tt.fault) {
						t.Errorf("FetchGit = %v, want the fault %d", err, tt.fault)
					}
					if tt.needsGit && !strings.Contains(err.Error(), "install") {
						t.Errorf("FetchGit = %q, want the advice to install git", err)
					}
					for _, says := range tt.says {
						if !byGit && !strings.Contains(err.Error(), says) {
							t.Errorf("FetchGit = %q, want %q in it", err, says)
						}
					}
				})
			}
		})
	}
}

// sshCase is what a user has for ssh, and what becomes of a fetch with it.
type sshCase struct {
	name string
	// files are those of ~/.ssh, in which HOME stands for the home directory, beside known_hosts with the server and
	// deploy with the right key. "" means no such file. With the file config, the host in the address is "forge".
	files map[string]string
	agent string
	query string
	want  error
	fault git.Fault
	says  []string // without git
	// needsGit is set for what only git's ssh does, and noGit if git is not tried.
	needsGit, noGit bool
}

func (tt sshCase) fetcher(t *testing.T, s *sshServer, byGit bool) *getmodules.Fetcher {
	t.Helper()
	home := t.TempDir()
	files := map[string]string{"known_hosts": s.knows(s.ed25519) + "\n", "deploy": string(s.client.pem)}
	maps.Copy(files, tt.files)
	dir := filepath.Join(home, ".ssh")
	testenv.Must(t, os.Mkdir(dir, 0o700))
	for name, text := range files {
		if text != "" { // ssh uses no key that others can read
			testenv.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "HOME", home)), 0o600))
		}
	}
	env := []string{"HOME=" + home, "SSH_AUTH_SOCK=" + tt.agent}
	if !byGit {
		return newBuiltInFetcher(t, env...)
	}
	// The program ssh ignores HOME.
	ssh := "ssh -F " + filepath.Join(dir, "config") + " -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=" + filepath.Join(dir, "known_hosts")
	return newGitFetcher(t, append(env, "GIT_SSH_COMMAND="+ssh)...)
}

func (tt sshCase) request(s *sshServer, root string) getmodules.Request {
	path, query, _ := strings.Cut("/net.git"+tt.query, "?")
	if errors.Is(tt.want, getmodules.ErrRepositoryNotFound) {
		path = "/none.git"
	}
	u := url.URL{Scheme: "ssh", User: url.User(s.user), Host: s.address, Path: root + path, RawQuery: query}
	if tt.files["config"] != "" {
		u.User, u.Host = nil, "forge"
	}
	return getmodules.Request{Package: addrs.ParseModulePackage("git::" + u.String())}
}

func sshCases(t *testing.T, s *sshServer, commit string) []sshCase {
	t.Helper()
	argument := "sshkey=" + url.QueryEscape(base64.StdEncoding.EncodeToString(s.client.pem))
	hashed := strings.Replace(s.knows(s.ed25519), knownhosts.Normalize(s.address), knownhosts.HashHostname(knownhosts.Normalize(s.address)), 1)
	key, other := string(s.client.pem), string(s.other.pem)
	known := func(name string) string { return knownhosts.Line([]string{name}, s.ed25519.signer.PublicKey()) + "\n" }
	host, port, err := net.SplitHostPort(s.address)
	testenv.Must(t, err)
	server := fmt.Sprintf("  HostName %s\n  Port %s\n  User %s\n", host, port, s.user)
	withKey := server + "  IdentityFile HOME/.ssh/deploy\n"
	// config returns the file config and another one.
	config := func(text, name, content string) map[string]string {
		return map[string]string{"config": text, name: content}
	}
	agent := serveAgent(t, newSSHKey(t), s.client)
	return []sshCase{
		{name: "key file", files: map[string]string{"id_ed25519": key}},
		{name: "second key file", files: map[string]string{"id_ed25519": other, "id_rsa": key}, query: "?ref=" + commit},
		{name: "key in the address", query: "?ref=main&" + argument},
		{name: "key of the agent", agent: serveAgent(t, s.client)},
		{name: "agent that is gone", files: map[string]string{"id_ecdsa": key}, agent: "/does/not/exist"},
		{name: "known by another key", files: map[string]string{"known_hosts": s.knows(s.rsa), "id_ed25519": key}},
		{name: "hashed", files: map[string]string{"known_hosts": hashed, "id_ed25519": key}},

		{name: "unknown host", files: map[string]string{"known_hosts": "\n", "id_ed25519": key}, want: getmodules.ErrHostUntrusted, fault: git.UnknownKey, says: []string{"SHA256:", "is not known", "known_hosts"}},
		{name: "no known_hosts", files: map[string]string{"known_hosts": "", "id_ed25519": key}, want: getmodules.ErrHostUntrusted, fault: git.UnknownKey, says: []string{"known_hosts"}},
		{name: "changed host", files: map[string]string{"known_hosts": s.knows(newSSHKey(t)), "id_ed25519": key}, want: getmodules.ErrHostUntrusted, fault: git.ChangedKey, says: []string{"attack"}},
		{name: "revoked host", files: map[string]string{"known_hosts": "@revoked * " + s.ed25519.line() + "\n" + s.knows(s.ed25519)}, want: getmodules.ErrHostUntrusted},
		{name: "malformed known_hosts", files: map[string]string{"known_hosts": "h ssh-ed25519 ???\n"}, want: getmodules.ErrHostUntrusted},
		{name: "no key", want: getmodules.ErrAuthentication, says: []string{"no key to offer", "install git"}},
		{name: "wrong key", files: map[string]string{"id_ed25519": other}, want: getmodules.ErrAuthentication, says: []string{"~/.ssh/id_ed25519"}},
		{name: "locked key", files: map[string]string{"id_rsa": lockedClientFile(t)}, want: getmodules.ErrAuthentication, says: []string{"passphrase", "~/.ssh/id_rsa"}},
		{name: "no key in the address", query: "?sshkey=" + base64.StdEncoding.EncodeToString([]byte("none")), want: getmodules.ErrAuthentication, says: []string{"sshkey"}},
		{name: "no repository", files: map[string]string{"id_ed25519": key}, want: getmodules.ErrRepositoryNotFound},

		{name: "alias", files: map[string]string{"config": "Host forge\n" + withKey}},
		{name: "Match blocks", files: map[string]string{"config": "Match host elsewhere exec \"exit 1\"\n  HostName 192.0.2.1\nHost forge\n" + withKey}, needsGit: true, says: []string{"Match"}},
		{name: "Match blocks, with an equals sign", files: map[string]string{"config": "Match=host elsewhere\n  HostName 192.0.2.1\nHost forge\n" + withKey}, needsGit: true, says: []string{"Match"}},
		{name: "included, with a tab", files: config("include\tHOME/.ssh/more\n", "more", "Host forge\n"+withKey), needsGit: true, says: []string{"include"}},
		{name: "included", files: config("Include HOME/.ssh/more\n", "more", "Host forge\n"+withKey), needsGit: true, says: []string{"Include"}},
		{name: "key of the host", files: config("Host forge\n  HostKeyAlias known\n"+withKey, "known_hosts", known("known")), needsGit: true, says: []string{"HostKeyAlias"}},
		{name: "alias is not known", files: config("Host forge\n"+withKey, "known_hosts", known("forge")), want: getmodules.ErrHostUntrusted, says: []string{s.address}},
		{name: "no default keys", files: config("Host forge\n"+server+"  IdentityFile HOME/.ssh/none\n", "id_ed25519", key), want: getmodules.ErrAuthentication},
		{name: "agent of the config", files: map[string]string{"config": "Host forge\n" + server + "  IdentityAgent " + agent + "\n"}, needsGit: true, says: []string{"IdentityAgent"}},
		{name: "named key of agent", files: config("Host forge\n"+server+"  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/named\n", "named", lockedClientFile(t)), agent: agent, needsGit: true, says: []string{"passphrase"}},
		{name: "public key of agent", files: config("Host forge\n"+server+"  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/named.pub\n", "named.pub", s.client.line()+"\n"), agent: agent, needsGit: true, says: []string{"no key to offer"}},
		{name: "no key of agent", files: map[string]string{"config": "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/none\n"}, agent: agent, want: getmodules.ErrAuthentication},
		{name: "no jump host", files: map[string]string{"config": "Host forge\n  ProxyJump none\n" + withKey}},
		{name: "jump host", files: map[string]string{"config": "Host forge\n  ProxyJump bastion\n" + withKey}, noGit: true, needsGit: true, says: []string{"ProxyJump"}},
		{name: "proxy command", files: map[string]string{"config": "Host *\n  ProxyCommand nc %h %p\nHost forge\n" + withKey}, noGit: true, needsGit: true, says: []string{"ProxyCommand"}},
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
