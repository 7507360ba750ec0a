package hostile_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// home is the origin that the credentials are meant for.
const home = "https://example.com"

// leastRedirects is the minimum number of cases.
const leastRedirects = 200

// route is a chain of redirects away from home.
type route struct {
	name string
	// hops are the origins in the order of the redirects.
	hops []string
	// kept means that the last request, which goes to home again, may have the credentials.
	kept bool
	// refused means that the last request must not be sent. The clients refuse some more, which
	// does no harm.
	refused bool
}

var routes = []route{
	{"home", []string{home}, true, false},
	{"home by a path", []string{""}, true, false},
	{"home with its port", []string{home + ":443"}, true, false},
	{"home in upper case", []string{"https://EXAMPLE.COM"}, true, false},
	{"home twice", []string{home, home}, true, false},
	{"home with a dot", []string{"https://example.com."}, false, false},
	{"other port", []string{home + ":8443"}, false, false},
	{"subdomain", []string{"https://sub.example.com"}, false, false},
	{"longer name", []string{"https://notexample.com"}, false, false},
	{"name in front", []string{"https://example.com.evil.test"}, false, false},
	{"other host", []string{"https://evil.test"}, false, false},
	{"IDN", []string{"https://xn--exmple-cua.com"}, false, false},
	{"this machine", []string{"https://127.0.0.1"}, false, true},
	{"metadata", []string{"https://169.254.169.254"}, false, true},
	{"user of its own", []string{"https://u:p@evil.test"}, false, false},
	{"home as a user", []string{"https://example.com@evil.test"}, false, false},
	{"there and back", []string{"https://evil.test", home}, false, false},
	{"port and back", []string{home + ":8443", home}, false, false},
	{"home, then away", []string{home, "https://evil.test"}, false, false},
	{"away, then on", []string{"https://sub.example.com", "https://evil.test"}, false, false},
	{"http at home", []string{"http://example.com"}, false, true},
	{"http elsewhere", []string{"http://evil.test"}, false, true},
	{"http at this machine", []string{"http://127.0.0.1"}, false, true},
	{"http by another host", []string{"https://evil.test", "http://example.com"}, false, true},
	{"http and back", []string{"http://example.com", home}, false, true},
}

// bearer is a client with a way to pass credentials.
type bearer struct {
	name string
	// ask sends the first request, to a URL below home + "/" + id.
	ask func(ctx context.Context, m *matrix, id string) error
	// challenge is the authentication that home requires, or "".
	challenge string
	statuses  []int
}

func bearers() []bearer {
	all := []int{301, 302, 303, 307, 308}
	fetch := func(address string) func(context.Context, *matrix, string) error {
		return func(ctx context.Context, m *matrix, id string) error {
			pkg := addrs.ParseModulePackage(strings.ReplaceAll(address, "ID", id))
			_, err := m.fetcher.Fetch(ctx, getmodules.Request{Package: pkg, Dir: filepath.Join(m.dir, id)})
			return err
		}
	}
	return []bearer{
		{"versions of a registry", askVersions, "", all},
		{"location of a registry", askLocation, "", all},
		{"archive of a registry", askArchive, "", all},
		{"userinfo of http", fetch("https://user:" + webtest.Canary + "@example.com/ID/x.zip"), "", all},
		{"token of http", fetch("https://" + webtest.Canary + "@example.com/ID/page"), "", all},
		{"OCI by name", fetch("oci://example.com/ID/net"), `Basic realm="x"`, all},
		{"OCI by token", fetch("oci://example.com/ID/net"), `Bearer realm="https://example.com/token",service="x",scope="repository:ID/net:pull"`, all},
		{"git", fetch("git::https://user:" + webtest.Canary + "@example.com/ID/net.git"), `Basic realm="x"`, []int{302, 307}},
	}
}

// tokenSource adds a token to requests to home.
type tokenSource struct{ base string }

func (s tokenSource) ServiceURL(context.Context, addrs.Hostname, string) (*url.URL, error) {
	return url.Parse(s.base)
}

func (tokenSource) Refused(context.Context, addrs.Hostname, *http.Request) bool { return false }

func (tokenSource) Authorize(_ context.Context, _ addrs.Hostname, req *http.Request) error {
	req.Header.Set("Authorization", "Bearer "+webtest.Canary)
	return nil
}

func (m *matrix) registry(id string) *registryclient.Client {
	return &registryclient.Client{Services: tokenSource{home + "/" + id + "/"}, HTTPClient: m.web.Client(), Attempts: 1}
}

func askVersions(ctx context.Context, m *matrix, id string) error {
	_, err := m.registry(id).ModuleVersions(ctx, module)
	return err
}

func askLocation(ctx context.Context, m *matrix, id string) error {
	_, err := m.registry(id).PackageLocation(ctx, module, versions.MustParse("1.0.0"))
	return err
}

func askArchive(ctx context.Context, m *matrix, id string) error {
	at := addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(home + "/" + id + "/x.zip")}
	return m.registry(id).Download(ctx, module, registryclient.Location{Source: at, Direct: true, UseCredentials: true}, io.Discard)
}

type matrix struct {
	web     *webtest.Web
	fetcher *getmodules.Fetcher
	dir     string
	cases   map[string]redirectCase // by id, which is part of all paths
}

type redirectCase struct {
	bearer
	route
	status int
}

// TestRedirectMatrix lets servers redirect clients with credentials to other origins.
func TestRedirectMatrix(t *testing.T) {
	t.Parallel()
	m := &matrix{web: webtest.New(t), dir: t.TempDir(), cases: map[string]redirectCase{}}
	for _, b := range bearers() {
		for _, status := range b.statuses {
			for _, r := range routes {
				m.cases[fmt.Sprintf("c%d", len(m.cases))] = redirectCase{b, r, status}
			}
		}
	}
	for _, origin := range []string{
		home, home + ":8443", "https://example.com.", "https://sub.example.com", "https://notexample.com", "https://example.com.evil.test", "https://evil.test",
		"https://xn--exmple-cua.com", "https://127.0.0.1", "https://169.254.169.254", "http://example.com", "http://evil.test", "http://127.0.0.1",
	} {
		m.web.Serve(origin, m.serve)
	}
	m.fetcher = m.newFetcher(t)
	t.Run("cases", func(t *testing.T) {
		for id, c := range m.cases {
			if _, err := exec.LookPath("git"); err != nil && c.bearer.name == "git" {
				continue // the tests of getmodules report missing programs
			}
			t.Run(fmt.Sprint(c.bearer.name, " ", c.status, " ", c.route.name), func(t *testing.T) {
				t.Parallel()
				err := c.ask(t.Context(), m, id)
				if err == nil {
					t.Error("no error, although the last answer is 404")
				} else {
					webtest.CheckText(t, err.Error())
				}
				m.check(t, id, c, err)
			})
		}
	})
	t.Logf("%d cases", len(m.cases))
	if len(m.cases) < leastRedirects {
		t.Errorf("there are %d cases, want %d at least", len(m.cases), leastRedirects)
	}
}

func (m *matrix) newFetcher(t *testing.T) *getmodules.Fetcher {
	t.Helper()
	certificates := filepath.Join(m.dir, "certificates.pem")
	if err := os.WriteFile(certificates, m.web.Certificates(), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := m.web.Proxy()
	return &getmodules.Fetcher{
		HTTPClient: m.web.Client(),
		Attempts:   1,
		OCICredentials: func(context.Context, string, string) (getmodules.OCICredential, error) {
			return getmodules.OCICredential{Username: "user", Password: webtest.Canary}, nil
		},
		Git: getmodules.Git{Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_SSL_CAINFO=" + certificates, "GIT_SSL_CAPATH=" + t.TempDir(),
			"https_proxy=" + proxy, "http_proxy=" + proxy,
		}},
	}
}

// serve answers for all servers. home requires credentials, and each server redirects along the
// route of the case until its end.
func (m *matrix) serve(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/token" {
		fmt.Fprintf(rw, `{"token":%q}`, webtest.Canary)
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	at := slices.IndexFunc(parts, func(part string) bool { return m.cases[part].status != 0 })
	if at < 0 {
		http.NotFound(rw, r)
		return
	}
	id := parts[at]
	c := m.cases[id]
	hop := -1 // the URL of home itself
	if at+1 < len(parts) {
		_, _ = fmt.Sscanf(parts[at+1], "hop%d", &hop)
	}
	switch {
	case hop < 0 && c.challenge != "" && r.Header.Get("Authorization") == "":
		rw.Header().Set("Www-Authenticate", strings.ReplaceAll(c.challenge, "ID", id))
		rw.WriteHeader(http.StatusUnauthorized)
	case hop == len(c.hops)-1 && c.bearer.name == "git":
		// Git would now send credentials that it has for this host.
		rw.Header().Set("Www-Authenticate", `Basic realm="x"`)
		rw.WriteHeader(http.StatusUnauthorized)
	case hop == len(c.hops)-1:
		http.NotFound(rw, r)
	default:
		to := fmt.Sprintf("%s/%s/hop%d", c.hops[hop+1], id, hop+1)
		if c.bearer.name == "git" {
			to += "/info/refs?" + r.URL.RawQuery // git follows only redirects to this path
		}
		rw.Header().Set("Location", to)
		rw.WriteHeader(c.status)
	}
}

// check checks all requests of a case. If a route returns to home, git's HTTP library sends the
// secret to home again. This cannot be changed, and it is harmless because the secret belongs to
// home.
func (m *matrix) check(t *testing.T, id string, c redirectCase, failure error) {
	t.Helper()
	first, last := false, false
	end := fmt.Sprintf("/%s/hop%d", id, len(c.hops)-1)
	left := false
	for _, r := range m.web.Requests() {
		if !slices.Contains(strings.Split(r.URL.Path, "/"), id) {
			continue
		}
		origin, shows := strings.ToLower(r.URL.Scheme+"://"+r.URL.Host), showsSecret(r)
		isQuestion := origin == home && path.Base(r.URL.Path) == "versions" // also after a location was not found
		left = (left || origin != home) && !isQuestion
		if shows && origin != home {
			t.Errorf("the secret went to %s", r.URL)
		}
		if shows && left && c.bearer.name != "git" {
			t.Errorf("the secret went home again, by %s", r.URL)
		}
		first = first || shows
		if strings.HasPrefix(r.URL.Path, end) {
			last = true
			if shows != c.kept && c.bearer.name != "git" {
				t.Errorf("the secret was sent to %s: %v, want %v", r.URL, shows, c.kept)
			}
		}
	}
	if !first {
		t.Error("home itself did not get the secret")
	}
	if last && c.refused {
		t.Errorf("the redirect to %q was followed", c.hops)
	}
	if c.refused && !errors.Is(failure, getmodules.ErrRefusedLocation) && !errors.Is(failure, registryclient.ErrInvalidAnswer) {
		t.Errorf("the error is %v, want one that a redirect was refused", failure)
	}
}

func showsSecret(r *http.Request) bool {
	if webtest.Carried(r) {
		return true
	}
	for _, values := range r.Header {
		for _, value := range values {
			_, encoded, _ := strings.Cut(value, " ")
			if text, err := base64.StdEncoding.DecodeString(encoded); err == nil && strings.Contains(string(text), webtest.Canary) {
				return true
			}
		}
	}
	return false
}
