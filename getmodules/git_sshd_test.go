package getmodules_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestSSH fetches and lists tags through a real sshd.
func TestSSH(t *testing.T) {
	t.Parallel()
	s := newSSHServer(t)
	r := newGitRepo(t, t.TempDir(), "net.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	r.setRef("refs/tags/v1.0.0", r.head("refs/heads/main"))
	known := "  UserKnownHostsFile " + s.file("known_hosts") + "\n"
	withKey := known + "  IdentityFile " + s.file("user_key")
	inAddress := url.QueryEscape(base64.StdEncoding.EncodeToString(s.key))
	full := fmt.Sprintf("git::ssh://%s@127.0.0.1:%d%s", s.user, s.port, r.dir)
	// Addresses in scp style name the user "git", which may not exist on this machine. An
	// insteadOf rule in the user's configuration replaces it.
	s.write(t, "gitconfig", fmt.Sprintf("[url \"ssh://%s@forge/\"]\n\tinsteadOf = ssh://git@forge/\n", s.user))
	for name, tt := range map[string]struct {
		address string
		config  string // client configuration for all hosts
		fails   error
		says    string
	}{
		"full address":         {address: full + "?ref=v1.0.0", config: withKey},
		"commit":               {address: full + "?ref=" + commit, config: withKey},
		"host of the config":   {address: "git::ssh://forge" + r.dir + "?ref=main", config: withKey},
		"scp style":            {address: "git@forge:" + r.dir + "?ref=v1.0.0", config: withKey},
		"key in the address":   {address: full + "?ref=v1.0.0&sshkey=" + inAddress, config: known},
		"no key":               {address: full, config: known + "  IdentityFile none", fails: getmodules.ErrAuthentication, says: "ssh agent"},
		"wrong key":            {address: full, config: known + "  IdentityFile " + s.file("other_key"), fails: getmodules.ErrAuthentication, says: "ssh agent"},
		"unknown host":         {address: full, config: "  UserKnownHostsFile /dev/null\n  IdentityFile " + s.file("user_key"), fails: getmodules.ErrHostUntrusted, says: "known_hosts"},
		"no such repository":   {address: full + "x", config: withKey, fails: getmodules.ErrRepositoryNotFound},
		"nobody listens there": {address: "git::ssh://127.0.0.1:1/x", config: withKey, fails: getmodules.ErrHostUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := addrs.ParseModuleSource(tt.address)
			if err != nil {
				t.Fatal(err)
			}
			f := newGitFetcher(t, s.clientConfig(t, tt.config), "GIT_CONFIG_GLOBAL="+s.file("gitconfig"))
			req := getmodules.Request{Package: source.(addrs.ModuleSourceRemote).Package}
			got, dir, err := fetchGit(t, f, req)
			if tt.fails != nil {
				if !errors.Is(err, tt.fails) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("Fetch(%q) = %v, want %v and %q", tt.address, err, tt.fails, tt.says)
				}
				return
			}
			if err != nil || got.Revision != commit || strings.Contains(got.Resolved.String(), "sshkey") {
				t.Fatalf("Fetch(%q) = %+v, %v; want %s", tt.address, got, err, commit)
			}
			if _, err := os.Stat(filepath.Join(dir, "main.tf")); err != nil {
				t.Error(err)
			}
			tags, err := f.Tags(t.Context(), req)
			if diff := cmp.Diff([]getmodules.Tag{{Name: "v1.0.0", Revision: commit}}, tags); err != nil || diff != "" {
				t.Errorf("Tags = %v (-want +got):\n%s", err, diff)
			}
			noKeysLeft(t, f.CacheDir, string(s.key))
		})
	}
}

// noKeysLeft checks that no file in a directory contains the private key.
func noKeysLeft(t *testing.T, dir, key string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), key) {
			t.Errorf("%s has the key", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
