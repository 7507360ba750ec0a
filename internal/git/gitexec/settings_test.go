package gitexec_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/testenv"
)

// settings returns the settings of a user with this configuration file and these variables.
func settings(t *testing.T, config string, env ...string) *gitexec.Settings {
	t.Helper()
	testenv.Program(t, "git")
	s, err := (&gitexec.Git{Env: append(userEnv(t, config), env...)}).Settings(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// userEnv returns the environment of a user with this configuration file.
func userEnv(t *testing.T, config string) []string {
	t.Helper()
	home := t.TempDir()
	if config != "" {
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
}

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const repository = "https://git.example.com/team/net.git"

const (
	header      = "[http]\n\textraHeader = a: secret\n"
	certificate = "[http]\n\tsslCert = /c\n\tsslKey = /k\n"
)

func connected(c gitexec.Connection) gitexec.HTTP { return gitexec.HTTP{Connection: c} }

func onlyGit(name string) gitexec.HTTP { return gitexec.HTTP{OnlyGit: name} }

// settingsRows have the settings that apply to a repository. EMPTY is an empty directory.
var settingsRows = []struct {
	config, env string
	foreign     bool // the root module does not name the host
	want        gitexec.HTTP
}{
	{},
	{config: "[user]\n\tname = a\n[credential]\n\thelper = store\n[core]\n\tsshCommand = ssh -v\n"},
	{config: "[http]\n\textraHeader = Authorization: Bearer x\n", want: gitexec.HTTP{Header: []string{"Authorization: Bearer x"}}},
	{config: "[http \"https://GIT.example.com:443/team\"]\n\textraHeader = x: y\n", want: gitexec.HTTP{Header: []string{"x: y"}}},
	{config: "[http \"https://*.example.com/\"]\n\textraHeader = x: y\n", want: gitexec.HTTP{Header: []string{"x: y"}}},
	{config: "[http \"https://GIT.example.com:443/other\"]\n\textraHeader = x: y\n"},
	{config: "[http \"https://other.example.com/\"]\n\textraHeader = x: y\n"},
	{config: "[http \"%zz\"]\n\textraHeader = x: y\n"},
	{config: "[http]\n\textraHeader = a: 1\n\textraHeader = b: 2\n", want: gitexec.HTTP{Header: []string{"a: 1", "b: 2"}}},
	{config: "[http]\n\textraHeader = a: 1\n\textraHeader =\n\textraHeader = b: 2\n", want: gitexec.HTTP{Header: []string{"b: 2"}}},
	{config: "[http]\n\textraHeader = a: 1\n[http \"https://git.example.com\"]\n\textraHeader = b: 2\n", want: gitexec.HTTP{Header: []string{"a: 1", "b: 2"}}},
	{config: "[http \"https://git.example.com\"]\n\textraHeader = b: 2\n[http]\n\textraHeader = a: 1\n", want: gitexec.HTTP{Header: []string{"b: 2"}}},
	{config: "[http \"https://git.example.com/team\"]\n\textraHeader = b: 2\n[http \"https://git.example.com\"]\n\textraHeader =\n\textraHeader = c: 3\n", want: gitexec.HTTP{Header: []string{"b: 2"}}},
	{config: "[http]\n\tproxy = http://proxy.example.com\n", want: connected(gitexec.Connection{Proxy: "http://proxy.example.com", HasProxy: true})},
	{config: "[http]\n\tproxy\n", want: connected(gitexec.Connection{HasProxy: true})},
	{config: "[http]\n\tsslVerify = false\n", want: connected(gitexec.Connection{AnyCertificate: true})},
	{config: "[http]\n\tsslVerify = false\n[http \"https://git.example.com\"]\n\tsslVerify = yes\n"},
	{config: "[http]\n\tsslVerify = true\n\tpostBuffer = 1\n\tversion = HTTP/1.1\n"},
	{config: "[http]\n\tfollowRedirects = false\n", want: gitexec.HTTP{StaysAtRedirects: true}},
	{config: "[http]\n\tfollowRedirects = initial\n"},
	{config: "[http]\n\tcookieFile = /x\n", want: gitexec.HTTP{OnlyGit: "http.cookiefile"}},
	{config: "[http]\n\tsomethingNew = x\n", want: gitexec.HTTP{OnlyGit: "http.somethingnew"}},
	{config: "[http \"https://other.example.com\"]\n\tcookieFile = /x\n"},
	{config: "[http]\n\tsslCert = /c\n\tsslKey = /k\n", want: connected(gitexec.Connection{Certificate: "/c", Key: "/k"})},
	{config: "[http]\n\tuserAgent = x\n", want: gitexec.HTTP{UserAgent: "x"}},
	{config: "[http]\n\tsslCAInfo = /etc/ca.pem\n", want: connected(gitexec.Connection{CAFile: "/etc/ca.pem"})},
	{config: "[http \"https://git.example.com\"]\n\tsslCAInfo = /etc/ca.pem\n", want: connected(gitexec.Connection{CAFile: "/etc/ca.pem"})},
	{config: "[http]\n\tsslCAInfo = ~/ca.pem\n", want: connected(gitexec.Connection{CAFile: "HOME/ca.pem"})},
	{config: "[http]\n\tsslCAInfo = ~other/ca.pem\n", want: gitexec.HTTP{OnlyGit: "http.sslcainfo", Connection: gitexec.Connection{CAFile: "~other/ca.pem"}}},

	{env: "GIT_SSL_NO_VERIFY=1", want: connected(gitexec.Connection{AnyCertificate: true})},
	{env: "GIT_SSL_NO_VERIFY="},
	{env: "GIT_SSL_CERT=/x", want: connected(gitexec.Connection{Certificate: "/x"})},
	{env: "GIT_SSL_CAPATH=/x", want: connected(gitexec.Connection{CADir: "/x"})},
	{env: "GIT_SSL_CAPATH=EMPTY"}, // an empty directory adds no certificates
	{env: "GIT_SSL_CAINFO=/x", want: connected(gitexec.Connection{CAFile: "/x"})},
	{env: "GIT_HTTP_USER_AGENT=x", want: gitexec.HTTP{UserAgent: "x"}},
	{env: "GIT_SSL_CIPHER_LIST=x", want: onlyGit("GIT_SSL_CIPHER_LIST")},
	{env: "GIT_PROXY_SSL_CAINFO=x", want: onlyGit("GIT_PROXY_SSL_CAINFO")},
	{env: "GIT_CURL_VERBOSE=1", want: onlyGit("GIT_CURL_VERBOSE")},
	{env: "GIT_TRACE=1", want: onlyGit("GIT_TRACE")},
	{env: "GIT_TRACE_CURL=/x", want: onlyGit("GIT_TRACE_CURL")},
	{env: "GIT_TRACE_PACKET=/x"}, // is not passed on to git
	{env: "ALL_PROXY=http://x"},  // the transport regards it
	{env: "GIT_ALLOW_PROTOCOL=ssh:file", want: onlyGit("GIT_ALLOW_PROTOCOL")},
	{env: "GIT_ALLOW_PROTOCOL=ssh:https"},
	{env: "GIT_DEPTH=20"},
	{env: "GIT_CONFIG_GLOBAL=/dev/null"},
	{env: "GIT_CONFIG_PARAMETERS='http.extraHeader=x: y'", want: gitexec.HTTP{Header: []string{"x: y"}}},
	{config: "[http]\n\tsslCAInfo = /etc/ca.pem\n", env: "GIT_SSL_CAINFO=/x", want: connected(gitexec.Connection{CAFile: "/x"})},

	{foreign: true, config: header, want: gitexec.HTTP{Withheld: "http.extraheader"}},
	{foreign: true, config: certificate, want: gitexec.HTTP{Withheld: "http.sslcert"}},
	{foreign: true, env: "GIT_SSL_CERT=/c", want: gitexec.HTTP{Withheld: "GIT_SSL_CERT"}},
	{foreign: true, config: header + "[http \"https://*.example.com/\"]\n\textraHeader = b: 2\n", want: gitexec.HTTP{Withheld: "http.extraheader", Header: []string{"b: 2"}}},
	{foreign: true, config: header + "[http \"https://git.example.com/x\"]\n\tsslVerify = true\n", want: gitexec.HTTP{Header: []string{"a: secret"}}},
	{foreign: true, config: header + "[credential \"https://git.example.com\"]\n\thelper = store\n", want: gitexec.HTTP{Header: []string{"a: secret"}}},
	{foreign: true, config: header + "[credential \"https://git.example.com:8443\"]\n\thelper = store\n", want: gitexec.HTTP{Withheld: "http.extraheader"}},
	{foreign: true, config: header + "[url \"https://git.example.com/\"]\n\tinsteadOf = corp:\n", want: gitexec.HTTP{Header: []string{"a: secret"}}},
	{foreign: true, config: header + "[http]\n\textraHeader =\n"},
}

// TestSettingsFor checks which settings apply to a repository. Credentials of settings that name no URL are only for
// hosts that the root module names.
func TestSettingsFor(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for _, tt := range settingsRows {
		env := append(userEnv(t, tt.config), strings.ReplaceAll(tt.env, "EMPTY", empty))
		s, err := (&gitexec.Git{Env: env}).Settings(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		got := s.For(parse(t, repository), !tt.foreign)
		got.Connection.CAFile = strings.Replace(got.Connection.CAFile, strings.TrimPrefix(env[1], "HOME="), "HOME", 1)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("with %q and %q (-want +got):\n%s", tt.config, tt.env, diff)
		}
	}
	counted := settings(t, "", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=x: y")
	if diff := cmp.Diff([]string{"x: y"}, counted.For(parse(t, repository), true).Header); diff != "" {
		t.Errorf("with GIT_CONFIG_COUNT (-want +got):\n%s", diff)
	}
}

// TestURLMatch compares which of two settings applies to a URL with what git says.
func TestURLMatch(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"https://git.example.com", "https://git.example.com/", "https://git.example.com/team", "https://git.example.com/team/",
		"https://git.example.com/te", "https://git.example.com/team/net.git", "https://git.example.com/team/net", "https://git.example.com:443/team",
		"https://git.example.com:8443/", "https://git.example.com:0443/", "http://git.example.com", "HTTPS://GIT.Example.com/team", "https://*.example.com/team/net.git",
		"https://*.example.com", "https://*.com", "https://*.*.com", "https://g*.example.com", "https://user@git.example.com/team/", "https://git.example.com/%74eam/",
		"https://git.example.com/x/../team/", "https://git.example.com//team", "https://git.example.com/team%2Fnet.git", "https://git.example.com/team/?x", "git.example.com", "https://",
		"https://[::1]/", "https://example.com/team", "https://git.example.com/team/.", "https://git.example.com/team/%zz",
	}
	urls := []string{
		repository, "https://git.example.com:8443/team/net.git", "https://git.example.com/team%2fnet.git/x", "https://[::1]/team", "https://example.com/team/x",
		"https://git.example.com//team/x", "https://git.example.com/~team/a%20b", "http://git.example.com:80/",
	}
	// Git matches all keys of a section at once, so that each pair has its own key for it.
	pairs, all := make([]*gitexec.Settings, len(patterns)), ""
	for i, first := range patterns {
		const form = "[http \"%s\"]\n\t%s = first\n[http \"%s\"]\n\t%[2]s = second\n"
		second := patterns[(i*7+3)%len(patterns)]
		s, err := (&gitexec.Git{Env: userEnv(t, fmt.Sprintf(form, first, "userAgent", second))}).Settings(t.Context(), "")
		testenv.Must(t, err)
		pairs[i] = s
		all += fmt.Sprintf(form, first, fmt.Sprint("pair", i), second)
	}
	env := userEnv(t, all)
	for _, at := range urls {
		cmd := exec.Command("git", "config", "--get-urlmatch", "http", at)
		cmd.Env, cmd.Dir = env, strings.TrimPrefix(env[1], "HOME=")
		out, err := cmd.Output()
		testenv.Must(t, err)
		byGit := map[string]string{}
		for line := range strings.Lines(string(out)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			byGit[key] = value
		}
		for i, s := range pairs {
			if got, want := s.For(parse(t, at), true).UserAgent, byGit[fmt.Sprint("http.pair", i)]; got != want {
				t.Errorf("of %s and %s, %q applies to %s; git says %q", patterns[i], patterns[(i*7+3)%len(patterns)], got, at, want)
			}
		}
		if len(byGit) == 0 {
			t.Errorf("git says that no setting applies to %s", at)
		}
	}
}

func FuzzURLPattern(f *testing.F) {
	for _, pattern := range []string{"https://u@*.example.com:443/a/../%41?x#y", "http://[::1]:80/%2f", "https://"} {
		f.Add(pattern, "/a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		u := &url.URL{Scheme: "https", Host: "git.example.com", Path: "/" + path}
		if gitexec.MatchesURL(pattern, u) && !strings.HasPrefix(strings.ToLower(pattern), "https://") {
			t.Errorf("%q applies to %s", pattern, u)
		}
		other := *u
		other.Host = "evil.example.net.com.invalid"
		if !strings.Contains(pattern, "*") && gitexec.MatchesURL(pattern, u) && gitexec.MatchesURL(pattern, &other) {
			t.Errorf("%q applies to two hosts", pattern)
		}
	})
}

// TestSettingsForeignRepository checks that the configuration of another repository, here one
// that GIT_DIR names, is ignored.
func TestSettingsForeignRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := testenv.Git(t, dir)
	git("", "init", "--quiet")
	git("", "config", "http.extraHeader", "x: y")
	s := settings(t, "", "GIT_DIR="+filepath.Join(dir, ".git"))
	if got := s.For(parse(t, repository), true); len(got.Header) > 0 {
		t.Errorf("the configuration of a repository counts: %+v", got)
	}
}

func TestSettingsWithoutGit(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	read := func(env ...string) gitexec.HTTP {
		s, err := (&gitexec.Git{Path: filepath.Join(home, "none"), Env: append(env, "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")}).Settings(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return s.For(parse(t, repository), true)
	}
	if got := read(); got.OnlyGit != "" {
		t.Errorf("without git and without any configuration, OnlyGit = %q", got.OnlyGit)
	}
	if read("GIT_CONFIG_GLOBAL=/x").OnlyGit == "" || !read("GIT_SSL_NO_VERIFY=1").Connection.AnyCertificate {
		t.Error("without git, the environment is not regarded")
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if read().OnlyGit == "" {
		t.Error("without git, but with a configuration for it, OnlyGit is not set")
	}
}

func TestSettingsBroken(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "git")
	g := &gitexec.Git{Env: userEnv(t, "[http")}
	for range 2 {
		if _, err := g.Settings(t.Context(), ""); err == nil || errors.Is(err, gitexec.ErrNoGit) {
			t.Errorf("Settings with a broken configuration = %v, want git's error", err)
		}
	}
}
