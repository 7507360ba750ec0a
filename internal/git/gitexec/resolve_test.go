package gitexec_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// ownName returns a name that resolves to this machine, and does not say so.
func ownName(t *testing.T) string {
	t.Helper()
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if found, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip", own); err != nil || !found[0].Unmap().IsLoopback() {
		t.Skipf("%s does not resolve to this machine", own)
	}
	return own
}

// from returns a context for what a package from a host has named; "" means the user.
func from(t *testing.T, host string) context.Context {
	t.Helper()
	if host == "" {
		return t.Context()
	}
	return httpx.PointedTo(t.Context(), &url.URL{Scheme: "https", Host: host})
}

// TestSSHResolved checks that ssh is not started if what it would connect to is this machine, and a package
// from elsewhere has named the address. The name in the user's settings of ssh counts.
func TestSSHResolved(t *testing.T) {
	t.Parallel()
	own := ownName(t)
	for name, tt := range map[string]struct {
		host, config, from string
		refused            bool
	}{
		"name":              {own, "hostname " + own, "public.example", true},
		"alias":             {"forge.example", "hostname " + own, "public.example", true},
		"alias, no config":  {own, "", "public.example", true},
		"address":           {"forge.example", "hostname 127.0.0.1", "public.example", false}, // only the user can have set it
		"elsewhere":         {own, "hostname forge.invalid", "public.example", false},
		"proxy":             {own, "hostname " + own + "\\nproxyjump bastion", "public.example", false},
		"no proxy":          {own, "hostname " + own + "\\nproxycommand none", "public.example", true},
		"of this machine":   {own, "hostname " + own, "127.0.0.1", false},
		"named by the user": {own, "hostname " + own, "", false},
	} {
		for _, byGit := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by git %t", name, byGit), func(t *testing.T) {
				t.Parallel()
				mark := filepath.Join(t.TempDir(), "ran")
				ssh := script(t, t.TempDir(), "ssh", fmt.Sprintf(`case " $* " in *" -G "*) printf '%s\n'; exit 0;; esac; echo >> %s; exit 255`, tt.config, mark))
				g := &gitexec.Git{Env: env("HOME="+t.TempDir(), "GIT_SSH_COMMAND="+ssh)}
				u := &url.URL{Scheme: "ssh", User: url.User("git"), Host: tt.host, Path: "/net.git"}
				ctx := from(t, tt.from)
				var err error
				if byGit {
					r := &gitexec.Repository{Git: g, URL: u, Protocols: []string{"ssh"}, Scratch: t.TempDir(), MaxBytes: 1 << 20}
					_, err = r.Refs(ctx, git.Tags)
				} else {
					var conn *gitexec.SSHConn
					if conn, err = g.DialSSH(ctx, gitexec.Target{URL: u}, ""); err == nil {
						err = conn.Wait()
						conn.Close()
					}
				}
				_, ran := os.Stat(mark)
				if refused := errors.As(err, new(*httpx.ReachError)); refused != tt.refused || refused != (ran != nil) {
					t.Errorf("the error is %v, want refused: %t; ssh was not run: %v", err, tt.refused, ran)
				}
			})
		}
	}
}

// TestGitResolved checks that git connects to the addresses that were accepted, if a package has named the
// host.
func TestGitResolved(t *testing.T) {
	t.Parallel()
	own := ownName(t)
	for name, tt := range map[string]struct {
		from, env, config string
		pinned            bool
	}{
		"package":           {from: "127.0.0.1", pinned: true},
		"user":              {},
		"proxy":             {from: "127.0.0.1", env: "https_proxy=http://proxy.example"},
		"other proxy":       {from: "127.0.0.1", env: "http_proxy=http://proxy.example", pinned: true},
		"the user's own":    {from: "127.0.0.1", config: "http.curloptresolve\n*:443:127.0.0.1"},
		"proxy of settings": {from: "127.0.0.1", config: "http.proxy\nhttp://proxy.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scratch, extra := t.TempDir(), tt.env
			if extra == "" {
				extra = "HOME=" + t.TempDir()
			}
			program := script(t, t.TempDir(), "git", fmt.Sprintf(`case "$*" in *version) echo git version 2.40.1;; *-z) printf '%%s\0' '%s';; esac`, tt.config))
			g := &gitexec.Git{Path: program, Env: env(extra)}
			r := &gitexec.Repository{Git: g, URL: &url.URL{Scheme: "https", Host: own, Path: "/net.git"}, Protocols: []string{"https"}, Scratch: scratch, MaxBytes: 1 << 20}
			if _, err := r.Refs(from(t, tt.from), git.Tags); err != nil {
				t.Fatal(err)
			}
			config, err := os.ReadFile(filepath.Join(scratch, "config"))
			if err != nil {
				t.Fatal(err)
			}
			if pinned := strings.Contains(string(config), "curloptResolve = \""+own+":443:"); pinned != tt.pinned {
				t.Errorf("the configuration is, want the address: %t\n%s", tt.pinned, config)
			}
		})
	}
}
