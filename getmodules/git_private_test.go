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
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// newPrivateServer starts a front of a git server that answers only requests that it lets in.
func newPrivateServer(t testing.TB, letsIn func(*http.Request) bool) *gitFront {
	t.Helper()
	s := newGitServer(t)
	gitMainTF(t, s)
	return newGitFront(t, s, func(w http.ResponseWriter, r *http.Request, truth *httptest.ResponseRecorder) {
		if letsIn(r) {
			sendTruth(w, r, truth)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
}

// loggedGit returns a PATH whose git appends its arguments to a file.
func loggedGit(t testing.TB) (path, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "log")
	return "PATH=" + filepath.Dir(wrappedGit(t, `echo "$@" >> `+log)) + ":" + os.Getenv("PATH"), log
}

// runs returns the lines of a log, and removes it.
func runs(t testing.TB, log string) []string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	_ = os.Remove(log)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// helperLogin is the output of a helper.
const helperLogin = "printf 'username=u\\\\npassword=" + webtest.Canary + "\\\\n'"

// privateRows are ways of a user to have credentials.
var privateRows = map[string]struct {
	config  string // %s is the address of the server, and HOST its host with the port
	env     []string
	address string // of the package, instead of the server's
	userURL string // the userinfo in the address
	netrc   bool
	refused int // requests without credentials
}{
	"a header":                     {config: "[http \"%s\"]\n\textraHeader = Authorization: Basic dTpjYW5hcnktNGYxZDlj\n"},
	"a header for all hosts":       {config: "[http]\n\textraHeader = Authorization: Basic dTpjYW5hcnktNGYxZDlj\n"},
	"insteadOf":                    {config: "[url \"http://u:" + webtest.Canary + "@HOST/\"]\n\tinsteadOf = http://HOST/\n"},
	"insteadOf, as forges advise":  {config: "[url \"http://u:" + webtest.Canary + "@HOST\"]\n\tinsteadOf = http://HOST\n"},
	"insteadOf of ssh":             {config: "[url \"http://u:" + webtest.Canary + "@HOST\"]\n\tinsteadOf = ssh://git@git.example.com\n", address: "ssh://git@git.example.com/net.git"},
	"insteadOf of ssh with a port": {config: "[url \"http://u:" + webtest.Canary + "@HOST\"]\n\tinsteadOf = ssh://git@git.example.com:2222\n", address: "ssh://git@git.example.com:2222/net.git"},
	"insteadOf in the environment": {env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.http://u:" + webtest.Canary + "@HOST.insteadOf", "GIT_CONFIG_VALUE_0=http://HOST"}},
	"an address":                   {userURL: "u:" + webtest.Canary + "@", config: "[credential]\n\thelper = \"!f() { echo username=other; echo password=wrong; }; f\"\n"},
	"a helper":                     {config: "[credential]\n\thelper = \"!f() { test $1 = get && " + helperLogin + "; }; f\"\n", refused: 1},
	"a helper for the host":        {config: "[credential \"%s\"]\n\thelper = \"!f() { test $1 = get && " + helperLogin + "; }; f\"\n", refused: 1},
	"netrc":                        {netrc: true, refused: 1},
}

// TestGitPrivate fetches from a server that wants credentials, with each way of a user to have some. No
// git program fetches anything, and the credential is neither in an argument of a process nor in the
// cache.
func TestGitPrivate(t *testing.T) {
	t.Parallel()
	for name, tt := range privateRows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			letsIn := func(r *http.Request) bool {
				user, password, _ := r.BasicAuth()
				return user == "u" && password == webtest.Canary
			}
			p := newPrivateServer(t, letsIn)
			home := t.TempDir()
			host := strings.TrimPrefix(p.URL, "http://")
			config := strings.ReplaceAll(strings.ReplaceAll(tt.config, "%s", p.URL), "HOST", host)
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), config)
			path, log := loggedGit(t)
			env := []string{"HOME=" + home, path}
			for _, variable := range tt.env {
				env = append(env, strings.ReplaceAll(variable, "HOST", host))
			}
			f := newWireFetcher(t, env...)
			if tt.netrc {
				testenv.WriteFile(t, filepath.Join(home, ".netrc"), "machine 127.0.0.1 login u password "+webtest.Canary+"\n") // git reads it itself
				f.HTTPCredentials = func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
					if at.Host != host {
						t.Errorf("netrc is asked for %s", at)
					}
					return url.UserPassword("u", webtest.Canary), nil
				}
			}
			if tt.address == "" {
				tt.address = "http://" + tt.userURL + host + "/net.git"
			}
			req := getmodules.Request{Package: addrs.ParseModulePackage("git::" + tt.address)}
			for range 3 {
				if _, _, err := fetchGit(t, f, req); err != nil {
					t.Fatal(err)
				}
			}
			requests, byGit, inProcess := p.take()
			letIn := len(slices.DeleteFunc(requests, func(r *http.Request) bool { return !letsIn(r) }))
			if byGit > 0 || letIn != 6 || inProcess-letIn != tt.refused {
				t.Errorf("%d requests by git, %d without it and %d with credentials; want none, 6 with credentials and %d without", byGit, inProcess, letIn, tt.refused)
			}
			asked := 0
			for _, run := range runs(t, log) {
				if strings.Contains(run, "credential fill") {
					asked++
				}
				webtest.CheckText(t, run)
			}
			if want := strings.Contains(name, "helper"); (asked == 1) != want || asked > 1 {
				t.Errorf("git credential fill ran %d times", asked)
			}
			// The git program gets the same, and has no credential in its arguments either.
			f.GitBackend = getmodules.GitInstalled
			if _, _, err := fetchGit(t, f, req); err != nil {
				t.Errorf("with git: %v", err)
			}
			for _, run := range runs(t, log) {
				webtest.CheckText(t, run)
			}
			for file, body := range tree(t, f.CacheDir) {
				if strings.Contains(body, webtest.Canary) {
					t.Errorf("%s has the credential", file)
				}
			}
		})
	}
}

// TestGitHelperIsTold checks that helpers are told, as by git, whether the credentials that they have
// returned work, and that other credentials are not told to them.
func TestGitHelperIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		password string
		netrc    bool
		want     []string
	}{
		"right": {password: "right", want: []string{"get", "store"}},
		// Git, which is tried afterwards, asks and is refused in the same way.
		"wrong": {password: "wrong", want: []string{"get", "erase", "get", "erase"}},
		"netrc": {netrc: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPrivateServer(t, func(r *http.Request) bool {
				_, password, _ := r.BasicAuth()
				return password == "right"
			})
			home := t.TempDir()
			log := filepath.Join(home, "log")
			helper := filepath.Join(home, "helper")
			gitScript(t, helper, fmt.Sprintf("echo $1 >> %s\ntest $1 = get && printf 'username=u\\npassword=%s\\n'\ntrue", log, tt.password))
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), "[credential]\n\thelper = "+helper+"\n")
			f := newWireFetcher(t, "HOME="+home)
			if tt.netrc {
				f.HTTPCredentials = func(context.Context, *url.URL) (*url.Userinfo, error) { return url.UserPassword("u", "right"), nil }
			}
			_, _, err := fetchGit(t, f, p.request(""))
			if (err == nil) != (tt.password != "wrong") || err != nil && !errors.Is(err, getmodules.ErrAuthentication) {
				t.Errorf("FetchGit = %v", err)
			}
			var got []string
			for _, verb := range runs(t, log) {
				if verb != "" {
					got = append(got, verb)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("what the helper was asked for (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGitHeadersAsGit compares the headers that both clients send.
func TestGitHeadersAsGit(t *testing.T) {
	t.Parallel()
	for _, config := range []string{
		"[http]\n\textraHeader = X-A: 1\n\textraHeader = X-A: 2\n",
		"[http]\n\textraHeader = X-A: 1\n\textraHeader =\n\textraHeader = X-A: 3\n",
		"[http]\n\textraHeader = X-A: 1\n[http \"%s\"]\n\textraHeader = X-A: 2\n",
		"[http \"%s\"]\n\textraHeader = X-A: 2\n[http]\n\textraHeader = X-A: 1\n",
		"[http \"%s/net.git\"]\n\textraHeader = X-A: 2\n[http \"%s\"]\n\textraHeader =\n\textraHeader = X-A: 1\n",
		"[http \"http://*.0.0.1/\"]\n\textraHeader = X-A: 1\n[http]\n\tuserAgent = git/agent-cotter\n",
	} {
		p := newPrivateServer(t, func(*http.Request) bool { return true })
		home := t.TempDir()
		testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), strings.ReplaceAll(config, "%s", p.URL))
		sent := map[string][]string{}
		for name, newFetcher := range userClients {
			if _, _, err := fetchGit(t, newFetcher(t, "HOME="+home), p.request("")); err != nil {
				t.Fatal(err)
			}
			requests, _, _ := p.take()
			for i, r := range requests {
				if sent[name] = r.Header.Values("X-A"); i > 0 && !cmp.Equal(sent[name], requests[0].Header.Values("X-A")) {
					t.Errorf("%s: requests have different headers", name)
				}
			}
		}
		if diff := cmp.Diff(sent["git"], sent["in process"]); diff != "" {
			t.Errorf("with %q (-git +in process):\n%s", config, diff)
		}
	}
}

// TestGitWithheld checks that a header or a certificate that the user has set for no URL is not sent to
// a host that only a package or a server names.
func TestGitWithheld(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key.pem")
	testenv.WriteFile(t, key, "none")
	for name, newFetcher := range userClients {
		p := newPrivateServer(t, func(r *http.Request) bool { return r.Header.Get("X-Token") != "" })
		fetch := func(config string, change func(*getmodules.Request)) error {
			home := t.TempDir()
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), strings.ReplaceAll(config, "%s", p.URL))
			req := p.request("")
			change(&req)
			_, _, err := fetchGit(t, newFetcher(t, "HOME="+home), req)
			return err
		}
		fromPackage := func(r *getmodules.Request) { r.FromPackage, r.Origin = true, p.URL }
		fromServer := func(r *getmodules.Request) { r.FromServer, r.Origin = true, "http://127.0.0.1:1" }
		const header = "[http]\n\textraHeader = X-Token: " + webtest.Canary + "\n"
		for by, change := range map[string]func(*getmodules.Request){"package": fromPackage, "server": fromServer} {
			err := fetch(header, change)
			withheld, ok := errors.AsType[*getmodules.GitWithheldError](err)
			if !ok || withheld.Setting != "http.extraheader" || !errors.Is(err, getmodules.ErrAuthentication) {
				t.Errorf("%s, from a %s: %v, want a *GitWithheldError", name, by, err)
			}
			// A longer match that comes later does not bring the other value with it.
			if err := fetch(header+"[http \"http://*.0.0.1/\"]\n\textraHeader = X-Other: 1\n", change); err == nil {
				t.Errorf("%s, from a %s, with a header for a pattern of hosts: the header for all hosts was sent", name, by)
			}
		}
		// A setting for a transport names no host.
		err := fetch(header+"[url \"http:\"]\n\tinsteadOf = git:\n", func(r *getmodules.Request) {
			fromPackage(r)
			r.Package = addrs.ParseModulePackage(strings.Replace(r.Package.String(), "git::http:", "git::git:", 1))
		})
		if _, ok := errors.AsType[*getmodules.GitWithheldError](err); !ok {
			t.Errorf("%s, from a package, with a setting for the transport: %v, want a *GitWithheldError", name, err)
		}
		requests, _, _ := p.take()
		for _, r := range requests {
			if webtest.Carried(r) {
				t.Errorf("%s: %s had the header", name, r.URL)
			}
		}
		for what, err := range map[string]error{
			"from the root module":          fetch(header, func(*getmodules.Request) {}),
			"with a setting for the host":   fetch(header+"[credential \"%s\"]\n\thelper =\n", fromPackage),
			"with a header for the host":    fetch(strings.Replace(header, "[http]", "[http \"%s\"]", 1), fromServer),
			"with insteadOf for the prefix": fetch(header+"[url \"%s/\"]\n\tinsteadOf = %s/\n", fromServer),
		} {
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if name == "git" {
			err := fetch("[http]\n\tsslCert = "+key+"\n", fromPackage)
			if withheld, ok := errors.AsType[*getmodules.GitWithheldError](err); !ok || withheld.Setting != "http.sslcert" {
				t.Errorf("git with a certificate: %v, want a *GitWithheldError", err)
			}
		}
	}
}

// TestGitConditions fetches with settings in files that git includes only for some remotes, as users do who have several
// identities on one forge. If such a setting names no URL, it is for a host only if the condition names that.
func TestGitConditions(t *testing.T) {
	t.Parallel()
	const (
		header = "[http]\n\textraHeader = Authorization: Basic dTpjYW5hcnktNGYxZDlj\n"
		helper = "[credential]\n\thelper = \"!f() { test $1 = get && " + helperLogin + "; }; f\"\n"
	)
	for name, tt := range map[string]struct {
		condition string // of the file with the settings; HOST is the server's
		settings  string
		fails     bool
		// byPackage is set if a package has named the address.
		byPackage bool
	}{
		"a header":                     {condition: "http://HOST/**", settings: header},
		"a helper":                     {condition: "http://HOST/**", settings: helper},
		"a helper for one repository":  {condition: "http://HOST/net.git", settings: helper},
		"a rule":                       {condition: "http://HOST/**", settings: "[url \"http://u:" + webtest.Canary + "@HOST\"]\n\tinsteadOf = http://HOST\n"},
		"for any address":              {condition: "**", settings: header},
		"for other repositories":       {condition: "http://HOST/other/**", settings: header, fails: true},
		"for another host":             {condition: "http://other.example/**", settings: helper, fails: true},
		"of a package":                 {condition: "http://HOST/**", settings: header, byPackage: true},
		"of a package, with wildcards": {condition: "http://*/**", settings: header, byPackage: true, fails: true},
		"of a package, for any":        {condition: "**", settings: header, byPackage: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			letsIn := func(r *http.Request) bool {
				_, password, _ := r.BasicAuth()
				return password == webtest.Canary
			}
			p := newPrivateServer(t, letsIn)
			home := t.TempDir()
			host := strings.NewReplacer("HOST", strings.TrimPrefix(p.URL, "http://"))
			include := "[includeIf \"hasconfig:remote.*.url:%s\"]\n\tpath = %s\n"
			// Another identity on the same server does not count.
			config := fmt.Sprintf(include, "http://HOST/team/**", "wrong") + fmt.Sprintf(include, tt.condition, "right")
			testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), host.Replace(config))
			testenv.WriteFile(t, filepath.Join(home, "right"), host.Replace(tt.settings))
			testenv.WriteFile(t, filepath.Join(home, "wrong"), strings.ReplaceAll(tt.settings, webtest.Canary, "wrong"))
			for client, newFetcher := range userClients {
				req := p.request("")
				req.FromPackage, req.Origin = tt.byPackage, p.URL
				_, _, err := fetchGit(t, newFetcher(t, "HOME="+home), req)
				if tt.fails != errors.Is(err, getmodules.ErrAuthentication) || !tt.fails && err != nil {
					t.Errorf("%s: FetchGit = %v, want an error: %v", client, err, tt.fails)
				}
				requests, byGit, _ := p.take()
				if tt.fails && slices.ContainsFunc(requests, letsIn) {
					t.Errorf("%s: the credentials were sent", client)
				}
				if !tt.fails && client != "git" && byGit > 0 {
					t.Errorf("%s: git sent %d requests", client, byGit)
				}
			}
		})
	}
}

// TestGitPlainHelper checks that no helper is asked for a server that a package names by http.
func TestGitPlainHelper(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Serve("http://git.example.com", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		rw.WriteHeader(http.StatusUnauthorized)
	})
	home := t.TempDir()
	testenv.WriteFile(t, filepath.Join(home, ".gitconfig"), "[credential]\n\thelper = \"!printf 'username=u\\\\npassword="+webtest.Canary+"\\\\n'\"\n[core]\n\taskPass = echo "+webtest.Canary+"\n")
	for _, fromPackage := range []bool{true, false} {
		for name, newFetcher := range userClients {
			f := newFetcher(t, "HOME="+home, "http_proxy="+w.Proxy())
			f.HTTPClient, f.Attempts = w.Client(), 1
			before := len(w.Requests())
			req := getmodules.Request{Package: addrs.ParseModulePackage("git::http://git.example.com/net.git"), FromPackage: fromPackage, Origin: "http://git.example.org"}
			if _, _, err := fetchGit(t, f, req); !errors.Is(err, getmodules.ErrAuthentication) {
				t.Errorf("%s: FetchGit = %v, want ErrAuthentication", name, err)
			}
			sent := 0
			for _, r := range w.Requests()[before:] {
				if r.Header.Get("Authorization") != "" {
					sent++
				}
			}
			if (sent > 0) == fromPackage {
				t.Errorf("%s, from a package %v: credentials were sent %d times", name, fromPackage, sent)
			}
		}
	}
}
