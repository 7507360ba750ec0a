package getmodules_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// fakeSite is an http server that records its requests.
type fakeSite struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // "GET /path?query", followed by the credentials, if any
	routes   map[string]http.HandlerFunc
}

// newSite serves routes by path. If a route writes SITE, it is replaced by the site's URL.
func newSite(t testing.TB, routes map[string]http.HandlerFunc) *fakeSite {
	t.Helper()
	site := &fakeSite{routes: routes}
	site.Server = httptest.NewServer(site)
	t.Cleanup(site.Close)
	return site
}

func (s *fakeSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := r.Method + " " + r.URL.RequestURI()
	if user, password, ok := r.BasicAuth(); ok {
		line += " " + user + ":" + password
	}
	s.mu.Lock()
	s.requests = append(s.requests, line)
	s.mu.Unlock()
	if route, ok := s.routes[r.URL.Path]; ok {
		route(w, r)
		return
	}
	http.NotFound(w, r)
}

func (s *fakeSite) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// withUserinfo returns a URL of the site that contains credentials.
func (s *fakeSite) withUserinfo(path string) string {
	return strings.Replace(s.URL, "://", "://user:hunter2@", 1) + path
}

func serve(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
}

func redirectTo(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

func leadTo(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Terraform-Get", location) }
}

// newHTTPFetcher returns a fetcher that does not wait between retries.
func newHTTPFetcher() *getmodules.Fetcher {
	return &getmodules.Fetcher{Backoff: func(int) time.Duration { return 0 }}
}

// fetchURL fetches an address into a sandbox. After an error, it checks that nothing is
// left and that the error does not show a password.
func fetchURL(t testing.TB, f *getmodules.Fetcher, address string, change ...func(*getmodules.Request)) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	box := newSandbox(t)
	req := getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: box.dir}
	for _, c := range change {
		c(&req)
	}
	pkg, err := f.Fetch(t.Context(), req)
	if err == nil {
		return tree(t, box.dir), pkg, nil
	}
	var fetch *getmodules.FetchError
	if !errors.As(err, &fetch) {
		t.Errorf("error %v is no *FetchError", err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error shows a secret: %v", err)
	}
	if _, err := os.Lstat(box.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after an error the directory is left: %v", err)
	}
	return nil, nil, err
}

func sampleZip() []byte { return newZip(rawFile("main.tf", "x"), rawFile("sub/dir/a.tf", "y")).bytes() }

var sampleTree = map[string]string{"main.tf": "x", "sub": "dir", "sub/dir": "dir", "sub/dir/a.tf": "y"}
