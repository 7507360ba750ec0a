package getmodules_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/process/trace"
	"github.com/cotterpin/cotter/internal/testenv"
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
		every   bool // every request, not only a fetch
	}{
		"full address":       {address: full + "?ref=v1.0.0", config: withKey, every: true},
		"commit":             {address: full + "?ref=" + commit, config: withKey},
		"host of the config": {address: "git::ssh://forge" + r.dir + "?ref=main", config: withKey},
		"scp style":          {address: "git@forge:" + r.dir + "?ref=v1.0.0", config: withKey},
		"key in the address": {address: full + "?ref=v1.0.0&sshkey=" + inAddress, config: known, every: true},
		"no key":             {address: full, config: known + "  IdentityFile none", fails: getmodules.ErrAuthentication, says: "of the user root: permission denied (publickey)"},
		"wrong key":          {address: full, config: known + "  IdentityFile " + s.file("other_key"), fails: getmodules.ErrAuthentication, says: "of the user root: permission denied (publickey)"},
		"unknown host":       {address: full, config: "  UserKnownHostsFile /dev/null\n  IdentityFile " + s.file("user_key"), fails: getmodules.ErrHostUntrusted, says: "ssh key is not known"},
		"no such repository": {address: full + "x", config: withKey, fails: getmodules.ErrRepositoryNotFound},
		"no server":          {address: "git::ssh://127.0.0.1:1/x", config: withKey, fails: getmodules.ErrHostUnreachable},
	} {
		for client, backend := range map[string]getmodules.GitBackend{"in process": getmodules.GitAuto, "git": getmodules.GitInstalled} {
			t.Run(name+", "+client, func(t *testing.T) {
				t.Parallel()
				source, err := addrs.ParseModuleSource(tt.address)
				testenv.Must(t, err)
				f := newGitFetcher(t, s.clientConfig(t, tt.config), "GIT_CONFIG_GLOBAL="+s.file("gitconfig"))
				f.GitBackend = backend
				req := getmodules.Request{Package: source.(addrs.ModuleSourceRemote).Package}
				ctx, programs := recordPrograms(t.Context())
				got, dir, err := fetchGitIn(ctx, t, f, req)
				if backend == getmodules.GitAuto && slices.ContainsFunc(programs(), func(p string) bool { return p == "git fetch" }) {
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
				if diff := cmp.Diff([]string{"ssh"}, programs()); backend == getmodules.GitAuto && diff != "" {
					t.Errorf("programs of the fetch (-want +got):\n%s", diff)
				}
				if _, err := os.Stat(filepath.Join(dir, "main.tf")); err != nil {
					t.Error(err)
				}
				if tt.every || *testenv.Exhaustive { // other requests connect as a fetch does
					tags, err := f.Tags(t.Context(), req)
					if diff := cmp.Diff([]getmodules.Tag{{Name: "v1.0.0", Revision: commit}}, tags); err != nil || diff != "" {
						t.Errorf("Tags = %v (-want +got):\n%s", err, diff)
					}
					if reach, err := f.Reachable(t.Context(), req, getmodules.LockedCommit{Revision: older}); err != nil || reach[older].Result != getmodules.Reachable {
						t.Errorf("Reachable = %+v, %v", reach, err)
					}
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
	old := newSSHServer(t, "AcceptEnv LANG", onlyGitCommands)
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
		"no variables": {env: []string{"GIT_SSH_COMMAND=env -u GIT_PROTOCOL " + command, "GIT_SSH_VARIANT=ssh"}, want: []string{"ssh", "ssh"}},
		"old server":   {env: []string{old.clientConfig(t, old.withKey())}, want: []string{"ssh", "ssh", "git fetch"}},
		"wrapper":      {env: []string{"GIT_SSH=" + wrapper("wrapper", "exec "+command+` "$@"`)}, want: []string{"ssh", "ssh"}}, // the first is ssh -G
		"only simple":  {env: []string{"GIT_SSH=" + wrapper("wrapper", `case $1 in -*) exit 1;; esac; exec `+command+` "$@"`)}, want: []string{"ssh", "git fetch"}},
		"said simple":  {env: []string{ssh, "GIT_SSH_VARIANT=simple"}, want: []string{"git fetch"}},
		"with a trace": {env: []string{ssh, "GIT_TRACE_SETUP=/dev/null"}, want: []string{"git fetch"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newGitFetcher(t, tt.env...)
			f.GitBackend = tt.backend
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
