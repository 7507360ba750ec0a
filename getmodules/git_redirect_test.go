package getmodules_test

import (
	"cmp"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// redirectWeb is a test network in which git.example.com redirects /moved/X to another
// address and serves all other paths itself. All hosts have the repositories net.git and
// sub.git; parent.git has the submodule "sub" at /moved/sub.git.
type redirectWeb struct {
	*webtest.Web
	s     *gitServer
	first string
}

func newRedirectWeb(t *testing.T, to string) *redirectWeb {
	t.Helper()
	w := &redirectWeb{Web: webtest.New(t), s: newGitServer(t)}
	_, w.first, _ = gitMainTF(t, w.s)
	sub := newGitRepo(t, w.s.root, "sub.git")
	id := sub.commit("main", gitFile{path: "sub.tf", content: "# sub\n"})
	newGitRepo(t, w.s.root, "parent.git").commit("main", gitFile{path: "main.tf", content: "# parent\n"},
		gitFile{path: "sub", mode: "160000", content: id},
		gitFile{path: ".gitmodules", content: "[submodule \"sub\"]\n\tpath = sub\n\turl = http://git.example.com/moved/sub.git\n"})
	serve := w.s.Config.Handler.ServeHTTP
	for _, scheme := range []string{"http", "https"} {
		w.Serve(scheme+"://git.example.com", func(rw http.ResponseWriter, r *http.Request) {
			moved, ok := strings.CutPrefix(r.URL.RequestURI(), "/moved")
			if !ok {
				serve(rw, r)
				return
			}
			http.Redirect(rw, r, to+moved, http.StatusMovedPermanently)
		})
	}
	for _, host := range []string{"forge.example.org", "169.254.169.254", "127.0.0.1", "localhost", "[::1]"} {
		w.Serve("http://"+host+":80", serve)
	}
	w.Serve("http://far.example.org", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "http://169.254.169.254"+r.URL.RequestURI(), http.StatusFound)
	})
	w.Serve("http://circle.example.org", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, r.URL.RequestURI(), http.StatusFound)
	})
	return w
}

// fetchers returns a fetcher for each git client. Their only network is w.
func (w *redirectWeb) fetchers(t *testing.T, env ...string) map[string]*getmodules.Fetcher {
	t.Helper()
	proxy, certificates := w.Proxy(), filepath.Join(t.TempDir(), "certificates")
	testenv.WriteFile(t, certificates, string(w.Certificates()))
	env = append(env, "http_proxy="+proxy, "https_proxy="+proxy, "no_proxy=", "GIT_SSL_CAINFO="+certificates)
	all := map[string]*getmodules.Fetcher{}
	for client, fetcher := range gitClients {
		all[client] = fetcher(t, env...)
		all[client].HTTPClient, all[client].Attempts = w.Client(), 1
	}
	return all
}

// TestGitRedirects checks that no git client, whatever the command, follows a redirect to
// an address that servers may not redirect to.
func TestGitRedirects(t *testing.T) {
	t.Parallel()
	for i, tt := range []struct {
		to      string
		allowed bool
		every   bool // with every client and command; otherwise only with -exhaustive
		scheme  string
	}{
		{to: "http://forge.example.org", allowed: true, every: true},
		{to: "http://git.example.com", allowed: true},
		{to: "", allowed: true}, // a relative redirect
		{to: "http://169.254.169.254", every: true},
		{to: "http://forge.example.org", scheme: "https", every: true},
		{to: "http://127.0.0.1"},
		{to: "http://localhost"},
		{to: "http://[::1]"},
		{to: "http://2130706433"},
		{to: "http://far.example.org"}, // redirects to 169.254.169.254
		{to: "http://circle.example.org"},
		{to: "file:///etc"},
		{to: "ftp://forge.example.org"},
	} {
		t.Run(tt.scheme+" to "+tt.to, func(t *testing.T) {
			t.Parallel()
			every := *testenv.Exhaustive || tt.every
			w := newRedirectWeb(t, tt.to)
			clients := w.fetchers(t)
			if !every { // both follow the same rule
				delete(clients, []string{"git", "in process"}[i%2])
			}
			base := "git::" + cmp.Or(tt.scheme, "http") + "://git.example.com/"
			for name, f := range clients {
				moved := addrs.ParseModulePackage(base + "moved/net.git")
				check := func(what string, err error) {
					t.Helper()
					if tt.allowed != (err == nil) || err != nil && !errors.Is(err, getmodules.ErrRefusedLocation) {
						t.Errorf("%s by %s: %v", what, name, err)
					}
				}
				before := len(w.Requests())
				pkg, err := f.Fetch(t.Context(), getmodules.Request{Package: moved, Dir: filepath.Join(t.TempDir(), "tree")})
				check("Fetch", err)
				if err == nil && pkg.Resolved != moved.WithArg("ref", pkg.Revision) {
					t.Errorf("Resolved by %s = %s, want the address that was asked for, %s", name, pkg.Resolved, moved)
				}
				if err == nil && name != "git" && slices.ContainsFunc(w.Requests()[before:], isByGit) {
					t.Errorf("%s: git sent requests", name)
				}
				if !every {
					continue // the rule is the same for every command
				}
				_, err = f.Fetch(t.Context(), getmodules.Request{Package: moved, Revision: w.first, Dir: filepath.Join(t.TempDir(), "tree")})
				check("Fetch of a commit", err)
				_, err = f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(base + "parent.git"), Submodules: true, Dir: filepath.Join(t.TempDir(), "tree")})
				check("Fetch of a submodule", err)
				_, err = f.Tags(t.Context(), getmodules.Request{Package: moved})
				check("Tags", err)
				_, err = f.Reference(t.Context(), getmodules.Request{Package: moved})
				check("Reference", err)
			}
			for _, r := range w.Requests() {
				host := r.URL.Hostname()
				isPlain := tt.scheme == "https" && r.URL.Scheme != "https" && r.Method != http.MethodConnect
				if isPlain || !strings.HasSuffix(host, ".com") && !strings.HasSuffix(host, ".org") {
					t.Errorf("a server redirected to %s, which was asked for %s", host, r.URL)
				}
			}
		})
	}
}

// TestGitRedirectWithSettings checks redirects that a server sends only to clients with credentials, from the address
// or from the user's git configuration. The request that finds the redirect has them too, or the error names the
// setting that is missing in it. Other servers get no credentials.
func TestGitRedirectWithSettings(t *testing.T) {
	t.Parallel()
	const helper = "[credential \"http://private.example.com\"]\n\thelper = \"!printf 'username=u\\\\npassword=" + webtest.Canary + "\\\\n'\"\n"
	for _, test := range []struct {
		name, config, address string
		to                    string // where http://private.example.com redirects to
		err                   string
		builtIn               bool
	}{
		{
			name: "credentials of the address", address: "http://u:" + webtest.Canary + "@private.example.com/net.git", to: "http://forge.example.org", builtIn: true,
			config: "[http]\n\textraHeader = X-Token: " + webtest.Canary + "\n[http \"http://private.example.com\"]\n\tfollowRedirects = true\n",
		},
		{name: "credentials of a helper", config: helper, to: "http://forge.example.org"},
		{name: "credentials of a helper on the same server", config: helper, to: "/moved"},
		{name: "a header", config: "[http \"http://private.example.com\"]\n\textraHeader = Authorization: Basic " + webtest.Canary + "\n", to: "http://forge.example.org"},
		{
			name: "credentials in insteadOf", to: "http://forge.example.org", address: "http://short.example.com/net.git",
			config: "[url \"http://u:" + webtest.Canary + "@private.example.com/\"]\n\tinsteadOf = http://short.example.com/\n",
		},
		{
			name: "an unknown setting", config: helper + "[http]\n\tcookieFile = /none\n", to: "http://forge.example.org",
			err: "because of git's setting http.cookiefile",
		},
		{name: "no redirects", config: helper + "[http]\n\tfollowRedirects = false\n", to: "http://forge.example.org", err: "which git's setting http.followRedirects forbids"},
		{name: "an address of this machine", config: helper, to: "http://127.0.0.1", err: "its host is this machine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newRedirectWeb(t, "")
			w.Serve("http://private.example.com", func(rw http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") == "" {
					rw.Header().Set("WWW-Authenticate", `Basic realm="test"`)
					rw.WriteHeader(http.StatusUnauthorized)
					return
				}
				if path, moved := strings.CutPrefix(r.URL.Path, "/moved"); moved {
					r.URL.Path = path
					r.Header.Del("Authorization") // the server behind it has no credentials
					w.s.Config.Handler.ServeHTTP(rw, r)
					return
				}
				http.Redirect(rw, r, test.to+r.URL.RequestURI(), http.StatusFound)
			})
			home := t.TempDir()
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), test.config)
			fetchers := w.fetchers(t, "HOME="+home)
			if !test.builtIn {
				delete(fetchers, "built in")
			}
			for name, f := range fetchers {
				pkg := addrs.ParseModulePackage("git::" + cmp.Or(test.address, "http://private.example.com/net.git"))
				_, _, err := fetchGit(t, f, getmodules.Request{Package: pkg})
				if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
					t.Fatalf("FetchGit by %s = %v, want %q", name, err, test.err)
				}
				if err != nil {
					webtest.CheckText(t, err.Error())
				}
			}
			w.CheckSecrecy("http://private.example.com")
			for _, r := range w.Requests() {
				if r.URL.Host != "private.example.com" && r.Header.Get("Authorization") != "" {
					t.Errorf("credentials went to %s", r.URL)
				}
			}
		})
	}
}

// TestGitRedirectIsRemembered checks that only the first command for a repository asks the server
// that redirects it.
func TestGitRedirectIsRemembered(t *testing.T) {
	t.Parallel()
	w := newRedirectWeb(t, "http://forge.example.org")
	f := w.fetchers(t)["git"]
	moved := getmodules.Request{Package: addrs.ParseModulePackage("git::http://git.example.com/moved/net.git")}
	asked := func() (n int) {
		for _, r := range w.Requests() {
			if r.URL.Host == "git.example.com" {
				n++
			}
		}
		return n
	}
	if _, err := f.Tags(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	first := asked()
	if _, _, err := fetchGit(t, f, moved); err != nil {
		t.Fatal(err)
	}
	if later := asked() - first; first != 2 || later != 0 {
		t.Errorf("the server was asked %d times at first and %d times later, want 2 (git, and the search for the URL) and 0", first, later)
	}
}
