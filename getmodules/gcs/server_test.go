package gcs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/internal/testenv"
)

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
func fetch(t *testing.T, getter *gcs.Getter, limits getmodules.Limits, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"gcs": getter}, Limits: limits}
	return fetchBy(t, f, address)
}

func fetchBy(t *testing.T, f *getmodules.Fetcher, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	return testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
		return f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: dir})
	})
}
