package getmodules_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestGitCredentialsOfCaller fetches from a server that requires a token, which the caller
// of the library supplies.
func TestGitCredentialsOfCaller(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	s.user, s.password = "oauth2", "t0k$n'\"`\\ é"
	r, _, second := gitMainTF(t, s)
	r.setRef("refs/tags/v1.0.0", r.head("refs/heads/main"))
	trace := filepath.Join(t.TempDir(), "trace")
	for name, f := range map[string]*getmodules.Fetcher{"git": newGitFetcher(t, "GIT_TRACE="+trace), "in process": newWireFetcher(t), "built in": newBuiltInFetcher(t)} {
		var asked []string
		f.GitCredentials = func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
			asked = append(asked, at.String())
			return url.UserPassword(s.user, s.password), nil
		}
		pkg, _, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=v1.0.0")})
		if err != nil || pkg.Revision != second || strings.Contains(pkg.Resolved.String(), "oauth2") {
			t.Errorf("%s: Fetch = %+v, %v, want %s", name, pkg, err, second)
		}
		if diff := cmp.Diff([]string{s.URL + "/net.git"}, asked); diff != "" {
			t.Errorf("%s: addresses asked for (-want +got):\n%s", name, diff)
		}
		if tags, err := f.Tags(t.Context(), getmodules.Request{Package: s.address(r, "")}); err != nil || len(tags) != 1 {
			t.Errorf("%s: Tags = %v, %v", name, tags, err)
		}
		if ref, err := f.Reference(t.Context(), getmodules.Request{Package: s.address(r, "ref=main")}); err != nil || ref.Revision != second {
			t.Errorf("%s: Reference = %v, %v", name, ref, err)
		}
		for file, body := range tree(t, f.CacheDir) {
			if strings.Contains(body, "t0k") {
				t.Errorf("%s: %s holds the token", name, file)
			}
		}
	}
	started, err := os.ReadFile(trace)
	if err != nil || !strings.Contains(string(started), "remote-http") || strings.Contains(string(started), "t0k$n") {
		t.Errorf("git's trace holds the token, or no command: %s, %v", started, err)
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
