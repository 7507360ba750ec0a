package gcs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/internal/testenv"
)

const gcsAddress = "gcs::https://www.googleapis.com/storage/v1/"

func zipOf(t *testing.T, text string) string {
	t.Helper()
	return string(testenv.Zip(t, map[string]string{"main.tf": text}))
}

func TestArchive(t *testing.T) {
	t.Parallel()
	c := newCloud(t, map[string]string{"b/net/v 1+%2F.zip": zipOf(t, "now"), "b/net/v 1+%2F.zip#17": zipOf(t, "old")})
	for fragment, want := range map[string]string{"": "now", "#17": "old"} {
		address := gcsAddress + "b/net/v%201+%252F.zip" + fragment
		got, pkg, err := fetch(t, c.getter(), address)
		testenv.Must(t, err)
		if diff := cmp.Diff(map[string]string{"main.tf": want}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", fragment, diff)
		}
		if pkg.Resolved.String() != address || pkg.ArchiveSum == "" {
			t.Errorf("got %+v, want %q", pkg, address)
		}
	}
}

// TestDirectory fetches a directory with more objects than fit on one page of a listing.
func TestDirectory(t *testing.T) {
	t.Parallel()
	objects := map[string]string{}
	for _, name := range []string{"net/main.tf", "net/sub/a.tf", "net/", "net/b.tf", "net/c.tf", "net/sub/", "net/sub/sub/d.tf", "net-2/main.tf", "nets"} {
		objects["b/"+name] = name
	}
	c := newCloud(t, objects)
	inNet := map[string]string{"main.tf": "net/main.tf", "sub/a.tf": "net/sub/a.tf", "b.tf": "net/b.tf", "c.tf": "net/c.tf", "sub/sub/d.tf": "net/sub/sub/d.tf"}
	all := map[string]string{"nets": "nets", "net-2/main.tf": "net-2/main.tf"}
	for name, text := range inNet {
		all["net/"+name] = text
	}
	for address, want := range map[string]map[string]string{"b/net": inNet, "b/net/": inNet, "b": all, "b/": all} {
		got, _, err := fetch(t, c.getter(), gcsAddress+address)
		testenv.Must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, map[string]string{"refused/git/.git/config": "x", "refused/same/a/b": "x", "refused/same/a//b": "x", "refused/large.zip": zipOf(t, "x")})
	for address, want := range map[string]error{
		"refused/missing.zip":      fs.ErrNotExist,
		"refused/large.zip#1":      fs.ErrNotExist,
		"refused/large.zip#1x":     nil,
		"refused/git#1":            nil,
		"refused/missing":          getmodules.ErrEmpty,
		"refused/git":              getmodules.ErrUnsafeEntry,
		"refused/same":             fs.ErrExist,
		"refused":                  nil,
		"refused?archive=zip":      nil,
		"../o":                     nil,
		"%2E%2E":                   nil,
		"refused/%2E%2E?":          nil,
		"refused/large.tar.gz.tar": getmodules.ErrEmpty,
	} {
		_, _, err := fetch(t, c.getter(), gcsAddress+address)
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: error is %v, want %v", address, err, want)
		}
	}
	for _, address := range []string{
		"https://example.com/storage/v1/b/o.zip", "gs://b/o.zip", "https://u:p@www.googleapis.com/storage/v1/b/o.zip",
		"https://www.googleapis.com/storage/v1", "https://www.googleapis.com/storage/v1/", "https://.googleapis.com/storage/v1/b/o.zip",
		"https://a.b.googleapis.com/storage/v1/b/o.zip", "https://googleapis.com/storage/v1/b/o.zip",
	} {
		if _, _, err := fetch(t, c.getter(), "gcs::"+address); err == nil {
			t.Errorf("%s is fetched", address)
		}
	}
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	c := newCloud(t, map[string]string{"b/net.zip": zipOf(t, "x")})
	for endpoint, ok := range map[string]bool{
		c.URL: true, strings.TrimPrefix(c.URL, "http://"): true, c.URL + "/storage/v1/": true,
		"file:///etc": false, "http://": false, "http://u:p@" + strings.TrimPrefix(c.URL, "http://"): false, "\x7f": false,
	} {
		_, _, err := fetch(t, &gcs.Getter{Endpoint: endpoint, Attempts: 1}, gcsAddress+"b/net.zip")
		if ok != (err == nil) {
			t.Errorf("%q: error is %v", endpoint, err)
		}
	}
}

// TestBusy checks that retries end, both after the stall timeout and after the maximum
// number of attempts.
func TestBusy(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	pause := ""
	c.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", pause)
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	waits := func(wait time.Duration) *getmodules.Fetcher {
		getter := &gcs.Getter{Endpoint: c.URL, Backoff: func(int) time.Duration { return wait }}
		return &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"gcs": getter}, StallTimeout: time.Millisecond}
	}
	_, _, err := fetchBy(t, waits(time.Hour), gcsAddress+"busy/net.zip")
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "has sent nothing") {
		t.Errorf("error is %v, want that the server has sent nothing", err)
	}
	before := len(c.authorizations())
	f := waits(0)
	f.StallTimeout = time.Hour
	_, _, err = fetchBy(t, f, gcsAddress+"busy/net.zip")
	if asked := len(c.authorizations()) - before; err == nil || !strings.Contains(err.Error(), "(6 attempts)") || asked != 6 {
		t.Errorf("error after %d requests is %v, want that it was so 6 times", asked, err)
	}
	pause = "3600"
	if _, _, err = fetchBy(t, f, gcsAddress+"busy/net.zip"); err == nil || !strings.Contains(err.Error(), "asks to wait 1h0m0s") {
		t.Errorf("error is %v, want that the pause is too long", err)
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"b/net.zip", "b/net"} {
		ctx, cancel := context.WithCancel(t.Context())
		c := newCloud(t, nil)
		c.refuse = func(_ http.ResponseWriter, r *http.Request) bool {
			cancel()
			<-r.Context().Done()
			return true
		}
		f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"gcs": c.getter()}}
		_, err := f.Fetch(ctx, getmodules.Request{Package: addrs.ParseModulePackage(gcsAddress + address), Dir: filepath.Join(t.TempDir(), "package")})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error is %v, want context.Canceled", address, err)
		}
	}
}

// cloud implements the part of Google Cloud Storage that the tests use: listings, with two
// objects per page, and objects with generations.
type cloud struct {
	*httptest.Server
	objects map[string]string // by BUCKET/NAME, and BUCKET/NAME#GENERATION
	// refuse, if not nil, may answer a request instead of the server; it returns true if
	// it did. Calls do not overlap.
	refuse func(w http.ResponseWriter, r *http.Request) bool

	mu     sync.Mutex
	tokens []string // the requests' Authorization headers
}

func newCloud(t *testing.T, objects map[string]string) *cloud {
	t.Helper()
	c := &cloud{objects: objects}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens = append(c.tokens, r.Header.Get("Authorization"))
	if c.refuse != nil && c.refuse(w, r) {
		return
	}
	rest, _ := strings.CutPrefix(r.URL.EscapedPath(), "/storage/v1/b/")
	bucket, name, isObject := strings.Cut(rest, "/o/")
	if !isObject {
		c.list(w, strings.TrimSuffix(rest, "/o"), r.URL.Query())
		return
	}
	name, err := url.PathUnescape(name)
	if err != nil || strings.Contains(rest[len(bucket)+3:], "/") || r.URL.Query().Get("alt") != "media" {
		http.Error(w, "such a request is not expected", http.StatusBadRequest)
		return
	}
	name = bucket + "/" + name
	if generation := r.URL.Query().Get("generation"); generation != "" {
		name += "#" + generation
	}
	content, ok := c.objects[name]
	if !ok {
		http.Error(w, "No such object: "+name, http.StatusNotFound)
		return
	}
	fmt.Fprint(w, content)
}

func (c *cloud) list(w http.ResponseWriter, bucket string, query url.Values) {
	var names []string
	for name := range c.objects {
		if object, ok := strings.CutPrefix(name, bucket+"/"); ok && strings.HasPrefix(object, query.Get("prefix")) && !strings.Contains(object, "#") {
			names = append(names, object)
		}
	}
	slices.Sort(names)
	type item struct {
		Name string `json:"name"`
	}
	var page struct {
		Items []item `json:"items,omitempty"`
		Next  string `json:"nextPageToken,omitempty"`
	}
	from, _ := strconv.Atoi(query.Get("pageToken"))
	for i := from; i < min(from+2, len(names)); i++ {
		page.Items = append(page.Items, item{names[i]})
	}
	if from+2 < len(names) {
		page.Next = strconv.Itoa(from + 2)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(page) // an error means that the client is gone
}

// authorizations returns the Authorization headers of the requests so far.
func (c *cloud) authorizations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tokens)
}

// getter returns a getter that sends its requests to c.
func (c *cloud) getter() *gcs.Getter { return &gcs.Getter{Endpoint: c.URL, Attempts: 1} }

// fetch fetches a package into a new directory and returns its files. It also checks that
// nothing else is left there.
func fetch(t *testing.T, getter *gcs.Getter, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	return fetchBy(t, &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"gcs": getter}}, address)
}

func fetchBy(t *testing.T, f *getmodules.Fetcher, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	return testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
		return f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: dir})
	})
}
