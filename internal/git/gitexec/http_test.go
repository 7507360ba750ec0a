package gitexec_test

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// settings returns the HTTP settings of a user with this configuration file and these
// variables.
func settings(t *testing.T, config string, env ...string) *gitexec.HTTPSettings {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	if config != "" {
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}, env...)
	s, err := (&gitexec.Git{Env: env}).HTTPSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plain(t *testing.T, s *gitexec.HTTPSettings, raw string) bool {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s.Plain(u)
}

const repository = "https://git.example.com/team/net.git"

func TestHTTPConfig(t *testing.T) {
	t.Parallel()
	tests := []struct {
		config string
		want   bool
	}{
		{"", true},
		{"[user]\n\tname = a\n[credential]\n\thelper = store\n[core]\n\tsshCommand = ssh -v\n", true},
		{"[http]\n\textraHeader = Authorization: Bearer x\n", false},
		{"[http \"https://git.example.com/\"]\n\textraHeader = Authorization: Bearer x\n", false},
		{"[http \"https://GIT.example.com:443/other\"]\n\textraHeader = x: y\n", false},
		{"[http \"https://*.example.com/\"]\n\textraHeader = x: y\n", false},
		{"[http \"https://other.example.com/\"]\n\textraHeader = x: y\n", true},
		{"[http \"%zz\"]\n\textraHeader = x: y\n", false},
		{"[http]\n\tproxy = http://proxy.example.com\n", false},
		{"[http]\n\tproxy\n", false},
		{"[http]\n\tsslVerify = false\n", false},
		{"[http]\n\tsslVerify = true\n\tpostBuffer = 1\n\tversion = HTTP/1.1\n\tlowSpeedLimit = 1\n", true},
		{"[http]\n\tfollowRedirects = false\n", false},
		{"[http]\n\tcookieFile = /x\n", false},
		{"[http]\n\tsslCert = /x\n", false},
		{"[http]\n\tuserAgent = x\n", false},
		{"[http]\n\tsomethingNew = x\n", false},
		{"[http]\n\tsslCAInfo = ~/ca.pem\n", false},
		{"[http]\n\tsslCAInfo = /etc/ca.pem\n", true},
		{"[http \"https://git.example.com\"]\n\tsslCAInfo = /etc/ca.pem\n", false},
	}
	for _, tt := range tests {
		if got := plain(t, settings(t, tt.config), repository); got != tt.want {
			t.Errorf("Plain with the configuration %q = %v, want %v", tt.config, got, tt.want)
		}
	}
}

func TestHTTPEnvironment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		entry string
		want  bool
	}{
		{"GIT_SSL_NO_VERIFY=1", false},
		{"GIT_SSL_NO_VERIFY=", true},
		{"GIT_SSL_CERT=/x", false},
		{"GIT_SSL_CAPATH=/x", false},
		{"GIT_SSL_CAPATH=.", false},
		{"GIT_SSL_CAPATH=" + t.TempDir(), true}, // an empty directory adds no certificates
		{"GIT_SSL_CAINFO=/x", true},
		{"GIT_HTTP_USER_AGENT=x", false},
		{"GIT_PROXY_SSL_CAINFO=x", false},
		{"GIT_CURL_VERBOSE=1", false},
		{"GIT_TRACE=1", false},
		{"GIT_TRACE_CURL=/x", false},
		{"GIT_TRACE_PACKET=/x", true}, // is not passed on to git
		{"ALL_PROXY=http://x", true},  // is in AllProxy
		{"all_proxy=http://x", true},
		{"HTTPS_PROXY=http://x", true},
		{"GIT_ALLOW_PROTOCOL=ssh:file", false},
		{"GIT_ALLOW_PROTOCOL=ssh:https", true},
		{"GIT_DEPTH=20", true},
		{"GIT_CONFIG_PARAMETERS='http.extraHeader=x: y'", false},
		{"GIT_CONFIG_GLOBAL=/dev/null", true},
	}
	for _, tt := range tests {
		if got := plain(t, settings(t, "", tt.entry), repository); got != tt.want {
			t.Errorf("Plain with %s = %v, want %v", tt.entry, got, tt.want)
		}
	}
	counted := settings(t, "", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.https://git.example.com/.extraHeader", "GIT_CONFIG_VALUE_0=x: y")
	if plain(t, counted, repository) || !plain(t, counted, "https://other.example.com/r.git") {
		t.Error("Plain does not regard GIT_CONFIG_COUNT")
	}
}

func TestHTTPFields(t *testing.T) {
	t.Parallel()
	const config = "[http]\n\tsslCAInfo = /etc/ca.pem\n"
	if s := settings(t, config); s.CAFile != "/etc/ca.pem" || s.Proxy {
		t.Errorf("HTTPSettings = %+v, want the file of the configuration", s)
	}
	if s := settings(t, config, "GIT_SSL_CAINFO=/x", "https_proxy=http://p"); s.CAFile != "/x" || !s.Proxy || s.AllProxy {
		t.Errorf("HTTPSettings = %+v, want the file and the proxy of the environment", s)
	}
	if s := settings(t, config, "all_proxy=http://p"); s.Proxy || !s.AllProxy {
		t.Errorf("HTTPSettings = %+v, want the proxy for all protocols", s)
	}
}

// TestHTTPForeignRepository checks that the configuration of another repository, here one
// that GIT_DIR names, is ignored.
func TestHTTPForeignRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	settings(t, "") // skips the test if git is not installed
	git("init", "--quiet")
	git("config", "http.extraHeader", "x: y")
	s := settings(t, "", "GIT_DIR="+filepath.Join(dir, ".git"))
	if !plain(t, s, repository) {
		t.Error("Plain regards the configuration of a repository")
	}
}

func TestHTTPWithoutGit(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	read := func(env ...string) bool {
		s, err := (&gitexec.Git{Path: filepath.Join(home, "none"), Env: append(env, "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")}).HTTPSettings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return plain(t, s, repository)
	}
	if !read() {
		t.Error("Plain without git and without any configuration = false")
	}
	if read("GIT_CONFIG_GLOBAL=/x") || read("GIT_SSL_NO_VERIFY=1") {
		t.Error("Plain without git does not regard the environment")
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if read() {
		t.Error("Plain without git, but with a configuration for it = true")
	}
}

func TestHTTPBrokenConfig(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[http"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gitexec.Git{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}}
	for range 2 {
		if _, err := g.HTTPSettings(t.Context()); err == nil || errors.Is(err, gitexec.ErrNoGit) {
			t.Errorf("HTTPSettings with a broken configuration = %v, want git's error", err)
		}
	}
}
