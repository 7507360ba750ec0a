package gcs_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
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
		got, pkg, err := fetch(t, c.getter(), getmodules.Limits{}, address)
		if err != nil {
			t.Fatal(err)
		}
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
		got, _, err := fetch(t, c.getter(), getmodules.Limits{}, gcsAddress+address)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, map[string]string{
		"refused/git/.git/config":  "x",
		"refused/up/../../../x":    "x",
		"refused/same/a/b":         "x",
		"refused/same/a//b":        "x",
		"refused/large/a":          strings.Repeat("x", 1000),
		"refused/large.zip":        zipOf(t, "x"),
		"refused/control/a\x1b[31": "x",
	})
	limits := getmodules.Limits{TreeBytes: 999, DownloadBytes: 20}
	tests := map[string]struct {
		want   error
		limits getmodules.Limits
	}{
		"refused/missing.zip":      {want: fs.ErrNotExist},
		"refused/large.zip#1":      {want: fs.ErrNotExist},
		"refused/large.zip#1x":     {},
		"refused/git#1":            {},
		"refused/missing":          {want: getmodules.ErrEmpty},
		"refused/git":              {want: getmodules.ErrUnsafeEntry},
		"refused/control":          {want: getmodules.ErrUnsafeEntry},
		"refused/up":               {},
		"refused/same":             {want: fs.ErrExist},
		"refused/large":            {getmodules.ErrTooLarge, limits},
		"refused/large.zip":        {getmodules.ErrTooLarge, limits},
		"refused":                  {},
		"refused?archive=zip":      {},
		"../o":                     {},
		"%2E%2E":                   {},
		"refused/%2E%2E?":          {},
		"refused/large.zip?":       {getmodules.ErrTooLarge, limits},
		"refused/large.tar.gz.tar": {want: getmodules.ErrEmpty},
	}
	for address, test := range tests {
		_, _, err := fetch(t, c.getter(), test.limits, gcsAddress+address)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want %v", address, err, test.want)
		}
	}
	for _, address := range []string{
		"https://example.com/storage/v1/b/o.zip", "gs://b/o.zip", "https://u:p@www.googleapis.com/storage/v1/b/o.zip",
		"https://www.googleapis.com/storage/v1", "https://www.googleapis.com/storage/v1/", "https://.googleapis.com/storage/v1/b/o.zip",
		"https://a.b.googleapis.com/storage/v1/b/o.zip", "https://googleapis.com/storage/v1/b/o.zip",
	} {
		if _, _, err := fetch(t, c.getter(), getmodules.Limits{}, "gcs::"+address); err == nil {
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
		_, _, err := fetch(t, &gcs.Getter{Endpoint: endpoint, Attempts: 1}, getmodules.Limits{}, gcsAddress+"b/net.zip")
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
	c.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
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
	if asked := len(c.authorizations()) - before; err == nil || !strings.Contains(err.Error(), "503 Service Unavailable after 6 attempts") || asked != 6 {
		t.Errorf("error after %d requests is %v, want that it was so 6 times", asked, err)
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
