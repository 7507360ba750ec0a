package getmodules_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

func gitWithUser(s *gitServer, user *url.Userinfo, repo string) addrs.ModulePackage {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic(err)
	}
	u.User = user
	return addrs.ParseModulePackage("git::" + u.String() + "/" + repo)
}

func TestGitCredentials(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	s.user, s.password = "me", "pa ss/@:%\"'é"
	_, _, second := gitMainTF(t, s)
	home := t.TempDir()
	trace := filepath.Join(home, "trace")
	f := newGitFetcher(t, "HOME="+home, "GIT_TRACE="+trace)
	config := "[credential]\n\thelper = \"!f() { echo username=other; echo password=wrong; }; f\"\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	pkg, _, err := fetchGit(t, f, getmodules.Request{Package: gitWithUser(s, url.UserPassword(s.user, s.password), "net.git")})
	if err != nil {
		t.Fatal(err)
	}
	if want := addrs.ParseModulePackage("git::" + s.URL + "/net.git?ref=" + second); pkg.Resolved != want {
		t.Errorf("Resolved = %s, want %s", pkg.Resolved, want)
	}
	secret := url.UserPassword(s.user, s.password).String()
	started, err := os.ReadFile(trace)
	if err != nil || !strings.Contains(string(started), "remote-http") {
		t.Fatalf("git's trace: %q, %v", started, err)
	}
	if strings.Contains(string(started), secret) || strings.Contains(string(started), s.password) {
		t.Errorf("a command line holds the password: %s", started)
	}
	for _, file := range gitFilesBelow(t, f.CacheDir) {
		if body, _ := os.ReadFile(file); strings.Contains(string(body), "pa ss") || strings.Contains(string(body), "pa%20ss") {
			t.Errorf("%s holds the password", file)
		}
	}
}

// TestGitUserWithoutPassword uses addresses that have a user name, here a token, but no
// password. Git first asks the user's own programs, such as askpass, for the password.
// Without an answer, the password is empty.
func TestGitUserWithoutPassword(t *testing.T) {
	t.Parallel()
	const token = "t0ken-of-a-forge"
	askpass := filepath.Join(t.TempDir(), "askpass")
	if err := os.WriteFile(askpass, []byte("#!/bin/sh\necho known\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, password string
		env            []string
		builtIn        bool
		want           error
	}{
		{name: "empty"},
		{name: "askpass", password: "known", env: []string{"GIT_ASKPASS=" + askpass}},
		{name: "refused", password: "other", want: getmodules.ErrAuthentication},
		{name: "in process", builtIn: true},
		{name: "refused in process", password: "other", builtIn: true, want: getmodules.ErrAuthentication},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newGitServer(t)
			s.user, s.password = token, test.password
			_, _, second := gitMainTF(t, s)
			trace := filepath.Join(t.TempDir(), "trace")
			f := newGitFetcher(t, slices.Concat(test.env, []string{"GIT_TRACE=" + trace})...)
			if test.builtIn {
				f = newBuiltInFetcher(t)
			}
			address := gitWithUser(s, url.User(token), "net.git")
			pkg, _, err := fetchGit(t, f, getmodules.Request{Package: address})
			tags, tagsErr := f.Tags(t.Context(), getmodules.Request{Package: address})
			if !errors.Is(err, test.want) || !errors.Is(tagsErr, test.want) {
				t.Fatalf("FetchGit = %v, Tags = %v, want %v", err, tagsErr, test.want)
			}
			shown := fmt.Sprint(err, tagsErr, pkg, tags)
			// In the askpass case, git itself passes the user name to the program.
			if started, err := os.ReadFile(trace); err == nil && test.env == nil {
				shown += string(started)
			}
			if !test.builtIn {
				for _, file := range gitFilesBelow(t, f.CacheDir) {
					body, _ := os.ReadFile(file)
					shown += string(body)
				}
			}
			if strings.Contains(shown, token) {
				t.Errorf("the token is shown: %s", shown)
			}
			if test.want == nil && pkg.Revision != second {
				t.Errorf("FetchGit = %+v, want %s", pkg, second)
			}
		})
	}
}

func TestGitCredentialHelper(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	s.user, s.password = "token", "secret"
	_, _, second := gitMainTF(t, s)
	home := t.TempDir()
	// The helper answers only for the user name in the address.
	config := "[credential]\n\thelper = \"!f() { grep -qx username=token && echo password=secret; }; f\"\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	pkg, _, err := fetchGit(t, newGitFetcher(t, "HOME="+home), getmodules.Request{Package: gitWithUser(s, url.User("token"), "net.git")})
	if err != nil || pkg.Revision != second {
		t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, second)
	}
}

func TestGitErrors(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, first, _ := gitMainTF(t, s)
	private := newGitServer(t)
	private.user, private.password = "u", "p"
	gitMainTF(t, private)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	forbidding := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(forbidding.Close)
	plain := newGitFetcher(t).Git.Env

	tests := []struct {
		name string
		pkg  addrs.ModulePackage
		git  getmodules.Git
		want error
		in   string
	}{
		{"no repository", addrs.ParseModulePackage("git::" + s.URL + "/none.git"), getmodules.Git{Env: plain}, getmodules.ErrRepositoryNotFound, "check the address"},
		{"no local repository", addrs.ParseModulePackage("git::file:///does/not/exist.git"), getmodules.Git{Env: plain}, getmodules.ErrRepositoryNotFound, ""},
		{"no commit", addrs.ParseModulePackage("git::" + s.URL + "/net.git?ref=" + strings.Repeat("0", 39) + "1"), getmodules.Git{Env: plain}, getmodules.ErrRevisionNotFound, "00001"},
		{"no credentials", addrs.ParseModulePackage("git::" + private.URL + "/net.git"), getmodules.Git{Env: plain}, getmodules.ErrAuthentication, "credential.helper"},
		{"wrong credentials", gitWithUser(private, url.UserPassword("u", "wr0ng"), "net.git"), getmodules.Git{Env: plain}, getmodules.ErrAuthentication, ""},
		{"forbidden", addrs.ParseModulePackage("git::" + forbidding.URL + "/net.git"), getmodules.Git{Env: plain}, getmodules.ErrAuthentication, "403"},
		{"unreachable", addrs.ParseModulePackage("git::" + gone.URL + "/net.git"), getmodules.Git{Env: plain}, getmodules.ErrHostUnreachable, ""},
		{"no git", addrs.ParseModulePackage("git::" + s.URL + "/net.git"), getmodules.Git{Env: []string{"PATH=."}}, getmodules.ErrNoGit, ""},
		{"ssh refuses", addrs.ParseModulePackage("git::ssh://h.example/n.git"), getmodules.Git{Env: append(plain, "GIT_SSH_COMMAND=echo 'Host key verification failed.' >&2; false")}, getmodules.ErrHostUntrusted, "known_hosts"},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &getmodules.Fetcher{AlwaysGit: true, CacheDir: t.TempDir(), Git: getmodules.Git{Env: tt.git.Env}}
			_, _, err := fetchGit(t, f, getmodules.Request{Package: tt.pkg})
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.in) {
				t.Fatalf("FetchGit = %v, want %v with %q", err, tt.want, tt.in)
			}
			if strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), "\n") {
				t.Errorf("FetchGit = %q: a secret, or more than a line", err)
			}
			// A failed fetch must not affect a later one.
			f = &getmodules.Fetcher{CacheDir: f.CacheDir, Git: getmodules.Git{Env: plain}}
			if _, _, err := fetchGit(t, f, getmodules.Request{Package: addrs.ParseModulePackage("git::" + s.URL + "/net.git?ref=" + first)}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGitCancelled(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 10)
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) }) // must run before s.Close, which waits for the handler
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	parent := t.TempDir()
	_, err := newGitFetcher(t).FetchGit(ctx, getmodules.Request{
		Package: addrs.ParseModulePackage("git::" + s.URL + "/net.git"), Dir: filepath.Join(parent, "tree"),
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("FetchGit = %v, want context.Canceled", err)
	}
	gitWantLeft(t, parent, false)
}
