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

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func gitWithUser(s *gitServer, user *url.Userinfo, repo string) addrs.ModulePackage {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic(err)
	}
	u.User = user
	return addrs.ParseModulePackage("git::" + u.String() + "/" + repo)
}

// TestGitCredentials uses credentials of the address and of the caller, with characters that have a meaning for a URL,
// a shell and a configuration file.
func TestGitCredentials(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	s.user, s.password = "oauth2", "t0k$n'\"`\\ é/@:%"
	r, _, second := gitMainTF(t, s)
	r.setRef("refs/tags/v1.0.0", second)
	trace := filepath.Join(t.TempDir(), "trace")
	for client, fetcher := range gitClients {
		for _, byCaller := range []bool{false, true} {
			f := fetcher(t)
			if client == "git" {
				f = fetcher(t, "GIT_TRACE="+trace)
			}
			pkg := gitWithUser(s, url.UserPassword(s.user, s.password), "net.git")
			var asked []string
			if byCaller {
				pkg = s.address(r, "")
				f.GitCredentials = func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
					asked = append(asked, at.String())
					return url.UserPassword(s.user, s.password), nil
				}
			}
			got, _, err := fetchGit(t, f, getmodules.Request{Package: pkg.WithArg("ref", "v1.0.0")})
			if want := s.address(r, "ref="+second); err != nil || got.Resolved != want {
				t.Errorf("%s: Fetch = %+v, %v, want %s", client, got, err, want)
			}
			if byCaller && !cmp.Equal([]string{s.URL + "/net.git"}, asked) {
				t.Errorf("%s: the caller was asked for %q", client, asked)
			}
			if tags, err := f.Tags(t.Context(), getmodules.Request{Package: pkg}); err != nil || len(tags) != 1 {
				t.Errorf("%s: Tags = %v, %v", client, tags, err)
			}
			if ref, err := f.Reference(t.Context(), getmodules.Request{Package: pkg.WithArg("ref", "main")}); err != nil || ref.Revision != second {
				t.Errorf("%s: Reference = %v, %v", client, ref, err)
			}
			for file, body := range tree(t, f.CacheDir) {
				if strings.Contains(body, "t0k") {
					t.Errorf("%s: %s holds the token", client, file)
				}
			}
		}
	}
	started, err := os.ReadFile(trace)
	if err != nil || !strings.Contains(string(started), "remote-http") || strings.Contains(string(started), "t0k") {
		t.Errorf("git's trace holds the token, or no command: %s, %v", started, err)
	}
}

// TestGitUserWithoutPassword uses addresses that have a user name, here a token, but no
// password. Git first asks the user's own programs, such as askpass, for the password.
// Without an answer, the password is empty.
func TestGitUserWithoutPassword(t *testing.T) {
	t.Parallel()
	const token = "t0ken-of-a-forge"
	askpass := filepath.Join(t.TempDir(), "askpass")
	testenv.Must(t, os.WriteFile(askpass, []byte("#!/bin/sh\necho known\n"), 0o700))
	for _, test := range []struct {
		name, password string
		config         string
		env            []string
		builtIn        bool
		want           error
	}{
		{name: "empty"},
		{name: "askpass", password: "known", env: []string{"GIT_ASKPASS=" + askpass}},
		{name: "helper", password: "known", config: "[credential]\n\thelper = \"!f() { grep -qx username=" + token + " && echo password=known; }; f\"\n"},
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
			home := t.TempDir()
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), test.config)
			f := newGitFetcher(t, slices.Concat(test.env, []string{"HOME=" + home, "GIT_TRACE=" + trace})...)
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
			// Git itself passes the user name to the askpass program, and this helper has it.
			if started, err := os.ReadFile(trace); err == nil && test.password != "known" {
				shown += string(started)
			}
			if !test.builtIn {
				for _, body := range tree(t, f.CacheDir) {
					shown += body
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
	newGitRepo(t, s.root, "empty.git")
	git, builtIn := []string{"git"}, []string{"git", "built in"}
	tests := []struct {
		name    string
		pkg     addrs.ModulePackage
		env     string
		clients []string
		want    error
		says    string // by git
	}{
		{"no repository", pkgOf("git::" + s.URL + "/none.git"), "", builtIn, getmodules.ErrRepositoryNotFound, "there is no repository " + s.URL + "/none.git"},
		{"no local repository", pkgOf("git::file:///does/not/exist.git"), "", git, getmodules.ErrRepositoryNotFound, ""},
		{"empty", pkgOf("git::" + s.URL + "/empty.git"), "", git, getmodules.ErrRefNotFound, "empty"},
		{"no commit", pkgOf("git::" + s.URL + "/net.git?ref=" + strings.Repeat("0", 39) + "1"), "", builtIn, getmodules.ErrRevisionNotFound, "00001"},
		{"no credentials", pkgOf("git::" + private.URL + "/net.git"), "", builtIn, getmodules.ErrAuthentication, "git has none that it accepts"},
		{"wrong credentials", gitWithUser(private, url.UserPassword("u", "wr0ng"), "net.git"), "", builtIn, getmodules.ErrAuthentication, ""},
		{"forbidden", pkgOf("git::" + forbidding.URL + "/net.git"), "", builtIn, getmodules.ErrAuthentication, "403"},
		{"unreachable", pkgOf("git::" + gone.URL + "/net.git"), "", builtIn, getmodules.ErrHostUnreachable, ""},
		{"no git", pkgOf("git::" + s.URL + "/net.git"), "PATH=.", git, getmodules.ErrNoGit, ""},
		{"ssh refuses", pkgOf("git::ssh://h.example/n.git"), "GIT_SSH_COMMAND=echo 'Host key verification failed.' >&2; false", git, getmodules.ErrHostUntrusted, "h.example's ssh key is not known"},
	}
	for i := range tests {
		for _, client := range tests[i].clients {
			tt := &tests[i]
			t.Run(tt.name+", "+client, func(t *testing.T) {
				t.Parallel()
				f := gitClients[client](t, tt.env)
				f.Attempts = 1
				_, _, err := fetchGit(t, f, getmodules.Request{Package: tt.pkg})
				if !errors.Is(err, tt.want) || client == "git" && !strings.Contains(err.Error(), tt.says) {
					t.Fatalf("FetchGit = %v, want %v with %q", err, tt.want, tt.says)
				}
				if client != "git" && errors.Is(err, getmodules.ErrAuthentication) && !strings.Contains(err.Error(), "install git") {
					t.Errorf("FetchGit = %v, want the advice to install git", err)
				}
				if strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), "\n") {
					t.Errorf("FetchGit = %q: a secret, or more than a line", err)
				}
				if client != "git" {
					return // it has no cache
				}
				// A failed fetch must not affect a later one.
				later := newGitFetcher(t)
				later.CacheDir = f.CacheDir
				if _, _, err := fetchGit(t, later, getmodules.Request{Package: pkgOf("git::" + s.URL + "/net.git?ref=" + first)}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestGitCredentialsStay checks addresses and redirects for which the caller's credentials
// must not be used.
func TestGitCredentialsStay(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, _, _ := gitMainTF(t, s)
	stolen := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if header := r.Header.Get("Authorization"); header != "" {
			stolen <- header
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	redirects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.String(), http.StatusFound)
	}))
	t.Cleanup(redirects.Close)
	failed := errors.New("the keychain is locked")
	for name, f := range map[string]*getmodules.Fetcher{"git": newGitFetcher(t), "built in": newBuiltInFetcher(t)} {
		f.GitCredentials = func(context.Context, *url.URL) (*url.Userinfo, error) {
			return url.UserPassword("u", "secret"), nil
		}
		pkg := addrs.ParseModulePackage("git::" + redirects.URL + "/net.git")
		if _, _, err := fetchGit(t, f, getmodules.Request{Package: pkg}); !errors.Is(err, getmodules.ErrAuthentication) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: Fetch by way of another server = %v, want ErrAuthentication", name, err)
		}
		f.GitCredentials = func(_ context.Context, at *url.URL) (*url.Userinfo, error) { return nil, failed }
		if _, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "")}); !errors.Is(err, failed) {
			t.Errorf("%s: Fetch = %v, want the caller's error", name, err)
		}
		named := getmodules.Request{Package: s.address(r, ""), FromServer: true, Origin: "http://127.0.0.1:1"}
		if _, _, err := fetchGit(t, f, named); err != nil {
			t.Errorf("%s: the credentials are asked for although another server named the address: %v", name, err)
		}
		plain := addrs.ParseModulePackage("git::http://192.0.2.1/net.git")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := f.Tags(ctx, getmodules.Request{Package: plain}); errors.Is(err, failed) {
			t.Errorf("%s: the credentials are asked for although the address is not encrypted", name)
		}
	}
	close(stolen)
	for header := range stolen {
		t.Errorf("another server got %q", header)
	}
}
