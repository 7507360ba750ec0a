package getmodules_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestGitHostileConfig fetches with a user configuration that starts programs and changes
// files wherever git allows it. The configuration must have no effect.
func TestGitHostileConfig(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "net.git")
	r.commit("main",
		gitFile{path: ".gitattributes", content: "*.tf filter=evil ident eol=crlf\n"},
		gitFile{path: "main.tf", content: "a\n$Id$\n"})
	_, plain, err := fetchGit(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, "")})
	testenv.Must(t, err)

	home := t.TempDir()
	mark := filepath.Join(home, "ran")
	script := filepath.Join(home, "hook")
	gitScript(t, script, "echo \"$0\" >> "+mark+"\ncat")
	for _, dir := range []string{"hooks", "template/hooks"} {
		for _, hook := range []string{"post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"} {
			path := filepath.Join(home, dir, hook)
			testenv.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			testenv.Must(t, os.Symlink(script, path))
		}
	}
	config := fmt.Sprintf(`[core]
	hooksPath = %[1]s/hooks
	fsmonitor = %[1]s/hook
	autocrlf = true
	pager = %[1]s/hook
	attributesFile = %[1]s/attributes
	sshCommand = %[1]s/hook
	alternateRefsCommand = %[1]s/hook
[init]
	templateDir = %[1]s/template
[filter "evil"]
	smudge = %[1]s/hook
	process = %[1]s/hook
	required = true
[alias]
	fetch = !%[1]s/hook
[gc]
	auto = 1
[fetch]
	fsckObjects = false
	writeCommitGraph = true
	prune = true
[uploadpack]
	packObjectsHook = %[1]s/hook
[diff]
	external = %[1]s/hook
[color]
	ui = always
[protocol "ext"]
	allow = always
`, home)
	testenv.Must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600))
	f := newGitFetcher(t, "HOME="+home, "GIT_DIR="+home, "GIT_WORK_TREE="+home, "GIT_NAMESPACE=x", "GIT_OBJECT_DIRECTORY="+home,
		"GIT_TEMPLATE_DIR="+home+"/template", "GIT_EXTERNAL_DIFF="+script, "GIT_DEFAULT_HASH=sha256")
	_, hostile, err := fetchGit(t, f, getmodules.Request{Package: s.address(r, "ref=main")})
	testenv.Must(t, err)
	if diff := cmp.Diff(tree(t, plain), tree(t, hostile)); diff != "" {
		t.Errorf("the configuration changed the tree (-without +with):\n%s", diff)
	}
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("programs of the configuration ran: %s", ran)
	}
}

// TestGitInsteadOfIsJudged checks that the result of url.<base>.insteadOf is judged like any other
// location: before a request is sent, and by every client.
func TestGitInsteadOfIsJudged(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, first, second := gitMainTF(t, s)
	const asked = "git::https://git.example.com/team/net.git"
	mirror := fmt.Sprintf("[url %q]\n\tinsteadOf = https://git.example.com/team/\n", s.URL+"/")
	denied := errors.New("the policy denies it")
	for name, newFetcher := range userClients {
		home := t.TempDir()
		testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), mirror)
		f := newFetcher(t, "HOME="+home)
		var judged []string
		req := getmodules.Request{Package: addrs.ParseModulePackage(asked), Allow: func(pkg addrs.ModulePackage) error {
			judged = append(judged, pkg.String())
			return denied
		}}
		_, _, fetchErr := fetchGit(t, f, req)
		_, tagsErr := f.Tags(t.Context(), req)
		_, refErr := f.Reference(t.Context(), req)
		_, reachErr := f.Reachable(t.Context(), getmodules.Request{Package: req.Package, Revision: first, Allow: req.Allow})
		for what, err := range map[string]error{"Fetch": fetchErr, "Tags": tagsErr, "Reference": refErr, "Reachable": reachErr} {
			if !errors.Is(err, denied) {
				t.Errorf("%s, %s = %v, want the error of Allow", name, what, err)
			}
		}
		if want := "git::" + s.URL + "/net.git"; len(judged) != 4 || judged[0] != want {
			t.Errorf("%s: judged %q, want four times %q", name, judged, want)
		}
		// The user's rules count once, and are not applied to what they result in.
		testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), mirror+fmt.Sprintf("[url \"https://other.invalid/\"]\n\tinsteadOf = %s/\n", s.URL))
		pkg, _, err := fetchGit(t, newFetcher(t, "HOME="+home), getmodules.Request{Package: req.Package})
		if want := req.Package.WithArg("ref", second); err != nil || pkg.Resolved != want {
			t.Errorf("%s, with a rule for the result: FetchGit = %+v, %v, want %s", name, pkg, err, want)
		}
		for config, want := range map[string]string{
			"[url \"http://127.0.0.1/acme/../\"]\n\tinsteadOf = https://git.example.com/\n": `the element ".."`,
			"[url \"ext::sh -c true \"]\n\tinsteadOf = https://git.example.com/\n":          "neither a URL nor an absolute path",
			"[url \"ftp://127.0.0.1/\"]\n\tinsteadOf = https://git.example.com/\n":          `the transport "ftp"`,
		} {
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), config)
			_, _, err := fetchGit(t, newFetcher(t, "HOME="+home), getmodules.Request{Package: req.Package})
			if !errors.Is(err, getmodules.ErrRefusedLocation) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, with %q = %v, want %q", name, config, err, want)
			}
		}
	}
	if n := s.count(); n == 0 {
		t.Error("nothing was requested for the rule that is applied once")
	}
}

// TestGitInsteadOfToken checks that the credentials of a rule are sent only to a host that the rule has as a whole. It
// does not matter if the configuration, a package or a server names the address.
func TestGitInsteadOfToken(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	const own = "https://git.example.com"
	for _, host := range []string{own, own + ".evil.example", own + ":8443", "https://evil.example"} {
		w.Serve(host, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			rw.WriteHeader(http.StatusUnauthorized)
		})
	}
	certificates := filepath.Join(t.TempDir(), "certificates")
	testenv.WriteFile(t, certificates, string(w.Certificates()))
	const user = "https://u:" + webtest.Canary + "@"
	for name, newFetcher := range userClients {
		for i, tt := range []struct {
			base, prefix, address string
			sent                  bool
		}{
			{user + "git.example.com/", own + "/", own + "/x", true},
			{user + "git.example.com", own, own + "/x", true},
			{user + "git.example.com", "ssh://git@git.example.com", "ssh://git@git.example.com/x", true},
			{user + "git.example.com", "ssh://git@git.example.com:22", "ssh://git@git.example.com:22/x", true},
			{user + "git.example.com", own + "/", own + "/.evil.example/x", false},
			{user + "git.example.com", own, own + ".evil.example/x", false},
			{user + "git.example.com", own, own + ":8443/x", false},
			{user + "git.example.com", own, own + "@evil.example/x", false},
			{user + "git.example.com", "ssh://git@git.example.com", "ssh://git@git.example.com.evil.example/x", false},
			{user + "git.example.com", "ssh://git@git.example.com", "ssh://git@git.example.com:8443/x", false},
			{user + "git.example.com", "ssh://git", "ssh://git@evil.example/x", false},
			{user, "https://", "https://evil.example/x", false},
			{user, "ssh://git@", "ssh://git@evil.example/x", false},
		} {
			home := t.TempDir()
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), fmt.Sprintf("[url %q]\n\tinsteadOf = %s\n", tt.base, tt.prefix))
			f := newFetcher(t, "HOME="+home, "GIT_SSL_CAINFO="+certificates, "https_proxy="+w.Proxy())
			f.HTTPClient, f.Attempts = w.Client(), 1
			before := len(w.Requests())
			req := getmodules.Request{Package: addrs.ParseModulePackage("git::" + tt.address), Origin: "https://evil.example"}
			req.FromPackage, req.FromServer = i%3 == 1, i%3 == 2 // who has named it makes no difference
			_, _, err := fetchGit(t, f, req)
			if !errors.Is(err, getmodules.ErrAuthentication) {
				t.Errorf("%s: FetchGit of %s = %v, want ErrAuthentication", name, tt.address, err)
				continue
			}
			webtest.CheckText(t, err.Error())
			sent := slices.ContainsFunc(w.Requests()[before:], func(r *http.Request) bool {
				user, password, _ := r.BasicAuth()
				return user == "u" && password == webtest.Canary
			})
			if sent != tt.sent {
				t.Errorf("%s: %s instead of %s, for %s: the token was sent: %v, want %v", name, tt.base, tt.prefix, tt.address, sent, tt.sent)
			}
		}
	}
	w.CheckSecrecy(own)
}

// TestGitInsteadOfLimits checks that a package reaches a host of this machine if a setting of the user names it, and
// not if the package itself determines the host.
func TestGitInsteadOfLimits(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	gitMainTF(t, s)
	short, last := s.URL[:len(s.URL)-1], s.URL[len(s.URL)-1:] // without the end of the port
	for name, newFetcher := range userClients {
		for _, tt := range []struct {
			base, prefix, address string
			refused               bool
		}{
			{s.URL, "https://git.example.com", "https://git.example.com/net.git", false},
			{short, "https://git.example.com/", "https://git.example.com/" + last + "/net.git", true},
			{"http://", "https://git.example.com/", "https://git.example.com/" + strings.TrimPrefix(s.URL, "http://") + "/net.git", true},
		} {
			home := t.TempDir()
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), fmt.Sprintf("[url %q]\n\tinsteadOf = %s\n", tt.base, tt.prefix))
			f := newFetcher(t, "HOME="+home)
			f.Attempts = 1
			_, err := f.Fetch(t.Context(), getmodules.Request{
				Package: addrs.ParseModulePackage("git::" + tt.address), FromPackage: true, Origin: "https://example.org", Dir: filepath.Join(home, "tree"),
			})
			if !tt.refused && err != nil || tt.refused && (err == nil || !strings.Contains(err.Error(), "this machine")) {
				t.Errorf("%s, with %s instead of %s, for %s: %v", name, tt.base, tt.prefix, tt.address, err)
			}
		}
	}
}

// TestGitProxy fetches from a host that only a proxy knows. Git and our client must use the proxy of the same
// settings.
func TestGitProxy(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, _, second := gitMainTF(t, s)
	for name, tt := range map[string]struct {
		config string
		env    []string
		unused bool
	}{
		"http.proxy":                   {config: "[http]\n\tproxy = VIA\n"},
		"http.<url>.proxy":             {config: "[http \"http://repo.invalid/\"]\n\tproxy = VIA\n"},
		"http.<url>.proxy of another":  {config: "[http \"http://other.invalid/\"]\n\tproxy = VIA\n", unused: true},
		"http_proxy":                   {env: []string{"http_proxy=VIA"}},
		"HTTP_PROXY":                   {env: []string{"HTTP_PROXY=VIA"}, unused: true},
		"all_proxy":                    {env: []string{"all_proxy=VIA"}},
		"ALL_PROXY":                    {env: []string{"ALL_PROXY=VIA"}},
		"no_proxy":                     {env: []string{"http_proxy=VIA", "no_proxy=repo.invalid"}, unused: true},
		"NO_PROXY":                     {config: "[http]\n\tproxy = VIA\n", env: []string{"NO_PROXY=repo.invalid"}, unused: true},
		"an empty http.proxy":          {config: "[http]\n\tproxy =\n", env: []string{"http_proxy=VIA"}, unused: true},
		"http.proxy before http_proxy": {config: "[http]\n\tproxy = VIA\n", env: []string{"http_proxy=http://127.0.0.1:1"}},
	} {
		for client, newFetcher := range gitClients {
			if client == "built in" && tt.config != "" {
				continue // it does not read git's configuration
			}
			t.Run(name+", "+client, func(t *testing.T) {
				t.Parallel()
				var requests, byGit atomic.Int32
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					requests.Add(1)
					if isByGit(r) {
						byGit.Add(1)
					}
					s.Config.Handler.ServeHTTP(w, r)
				}))
				t.Cleanup(proxy.Close)
				home := t.TempDir()
				testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), strings.ReplaceAll(tt.config, "VIA", proxy.URL))
				env := []string{"HOME=" + home}
				for _, variable := range tt.env {
					env = append(env, strings.ReplaceAll(variable, "VIA", proxy.URL))
				}
				f := newFetcher(t, env...)
				f.Attempts = 1
				pkg, _, err := fetchGit(t, f, getmodules.Request{Package: pkgOf("git::http://repo.invalid/net.git")})
				switch {
				case tt.unused:
					if !errors.Is(err, getmodules.ErrHostUnreachable) || requests.Load() > 0 {
						t.Errorf("FetchGit = %v with %d requests to the proxy, want ErrHostUnreachable and none", err, requests.Load())
					}
				case err != nil || pkg.Revision != second:
					t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, second)
				case client != "git" && byGit.Load() > 0:
					t.Errorf("%d of %d requests were sent by git", byGit.Load(), requests.Load())
				}
			})
		}
	}
}
