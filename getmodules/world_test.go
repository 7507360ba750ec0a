package getmodules_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Prepare(m).Run()) }

// sandbox is a directory for the result of a fetch, next to a canary file. When the test
// ends, it checks that nothing was written outside the result and that the canary is
// unchanged.
type sandbox struct{ outside, dir string }

func newSandbox(t testing.TB) sandbox {
	t.Helper()
	s := sandbox{outside: t.TempDir()}
	s.dir = filepath.Join(s.outside, "package")
	testenv.WriteFile(t, filepath.Join(s.outside, "canary"), "alive")
	t.Cleanup(func() {
		got := tree(t, s.outside)
		for name := range got {
			if name == "package" || strings.HasPrefix(name, "package/") {
				delete(got, name)
			}
		}
		if diff := cmp.Diff(map[string]string{"canary": "alive"}, got); diff != "" {
			t.Errorf("outside of the package (-want +got):\n%s", diff)
		}
	})
	return s
}

// tree returns the contents of a directory by path: the text of a file, with the prefix
// "exec:" if it is executable; "dir" for a directory; and "link:target" for a link.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		got[filepath.ToSlash(rel)], err = describeEntry(name, d)
		return err
	})
	testenv.Must(t, err)
	return got
}

func describeEntry(name string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		return "dir", nil
	case fs.ModeSymlink:
		target, err := os.Readlink(name)
		return "link:" + target, err
	case 0:
		text, err := os.ReadFile(name)
		if info.Mode()&0o100 != 0 {
			return "exec:" + string(text), err
		}
		return string(text), err
	}
	return "", fmt.Errorf("%s is a %v", name, info.Mode())
}

// result returns the tree of a fetch. After an error it checks that nothing is left, and that the error is a *FetchError
// that does not show a password.
func (s sandbox) result(t testing.TB, pkg *getmodules.Package, err error) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	if err == nil {
		return tree(t, s.dir), pkg, nil
	}
	var fetch *getmodules.FetchError
	if !errors.As(err, &fetch) {
		t.Errorf("error %v is no *FetchError", err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error shows a secret: %v", err)
	}
	if _, err := os.Lstat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after an error the directory is left: %v", err)
	}
	return nil, nil, err
}

// extract unpacks an archive in a sandbox.
func extract(t testing.TB, kind string, archive []byte, limits getmodules.Limits) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	box := newSandbox(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	testenv.Must(t, err)
	defer file.Close()
	if _, err := file.Write(archive); err != nil {
		t.Fatal(err)
	}
	pkg, err := getmodules.ExtractArchive(t.Context(), file, kind, box.dir, limits)
	return box.result(t, pkg, err)
}

func wantRefused(t testing.TB, what string, err error) {
	t.Helper()
	for _, reason := range []error{
		getmodules.ErrNotArchive, getmodules.ErrUnsafeArchive, getmodules.ErrUnsafeEntry,
		getmodules.ErrEmpty, getmodules.ErrTooLarge, getmodules.ErrUnsupportedArchive,
	} {
		if errors.Is(err, reason) {
			return
		}
	}
	t.Errorf("%s: error is %v, want one of the reasons to refuse", what, err)
}

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

// fetchURL fetches an address into a sandbox.
func fetchURL(t testing.TB, f *getmodules.Fetcher, address string, change ...func(*getmodules.Request)) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	box := newSandbox(t)
	req := getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: box.dir}
	for _, c := range change {
		c(&req)
	}
	pkg, err := f.Fetch(t.Context(), req)
	return box.result(t, pkg, err)
}

func sampleZip() []byte { return newZip(rawFile("main.tf", "x"), rawFile("sub/dir/a.tf", "y")).bytes() }

var sampleTree = map[string]string{"main.tf": "x", "sub": "dir", "sub/dir": "dir", "sub/dir/a.tf": "y"}
