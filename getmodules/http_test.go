package getmodules_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
)

func TestHTTPArchive(t *testing.T) {
	t.Parallel()
	zip := serve(sampleZip())
	site := newSite(t, map[string]http.HandlerFunc{
		"/a.zip": zip, "/get": zip, "/a.txt": zip, "/o/r/archive/v1.zip": zip, "/moved": redirectTo(302, "/o/r/archive/v1.zip"),
		"/a.tgz": func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Accept-Encoding"); got != "identity" {
				t.Errorf("Accept-Encoding is %q", got)
			}
			w.Header().Set("Content-Encoding", "x-gzip") // some servers declare the compression of the file
			serve(gzipped(tarOf(t, tarFile("main.tf", "x"), tarFile("sub/dir/a.tf", "y"))))(w, r)
		},
	})
	tests := []struct{ address, asked, resolved string }{
		{"/a.zip", "/a.zip", "/a.zip"},
		{"/a.tgz", "/a.tgz", "/a.tgz"},
		{"/a.zip?token=hunter2&b=%20&a=1", "/a.zip?token=hunter2&b=%20&a=1", "/a.zip"},
		{"/a.zip?z=1&archive=zip&a=1", "/a.zip?z=1&a=1", "/a.zip"},
		{"/get?archive=zip", "/get", "/get?archive=zip"},
		{"/get?archive=zip&archive=tar.gz&t=1", "/get?t=1", "/get?archive=zip"},
		{"/a.txt?archive=zip#fragment", "/a.txt", "/a.txt?archive=zip"},
		{"/o/r/archive/v1.zip", "/o/r/archive/v1.zip", "/o/r/archive/v1.zip"},
	}
	for _, test := range tests {
		got, pkg, err := fetchURL(t, newHTTPFetcher(), site.URL+test.address)
		if err != nil {
			t.Errorf("%s: %v", test.address, err)
			continue
		}
		if diff := cmp.Diff(sampleTree, got); diff != "" {
			t.Errorf("%s: tree differs (-want +got):\n%s", test.address, diff)
		}
		asked := site.asked()
		if last := asked[len(asked)-1]; last != "GET "+test.asked {
			t.Errorf("%s: asked for %q, want %q", test.address, last, test.asked)
		}
		if pkg.Resolved.String() != site.URL+test.resolved {
			t.Errorf("%s: Resolved = %q, want %q", test.address, pkg.Resolved, test.resolved)
		}
		if generated := strings.Contains(test.address, "/archive/"); (pkg.ArchiveSum == "") != generated {
			t.Errorf("%s: ArchiveSum = %q", test.address, pkg.ArchiveSum)
		}
	}
	if _, pkg, err := fetchURL(t, newHTTPFetcher(), site.URL+"/moved?archive=zip"); err != nil || pkg.ArchiveSum != "" {
		t.Errorf("redirect to a forge: %+v, %v, want no ArchiveSum", pkg, err)
	}
}

func TestHTTPFailures(t *testing.T) {
	t.Parallel()
	encoded := func(encoding string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			serve(body)(w, r)
		}
	}
	site := newSite(t, map[string]http.HandlerFunc{
		"/empty.zip":     serve(nil),
		"/html.zip":      serve([]byte("<html>sign in</html>")),
		"/forbidden.zip": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"/gone.zip":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
		"/partial.zip":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPartialContent) },
		"/encoded.zip":   encoded("gzip", sampleZip()),
		"/br.tar.gz":     encoded("br", gzipped(tarOf(t, tarFile("a", "1")))),
		"/bad.zip":       serve(newZip(rawFile("../x", "")).bytes()),
		"/none.zip":      serve(newZip().bytes()),
	})
	tests := map[string]error{
		"/empty.zip":         getmodules.ErrNotArchive,
		"/html.zip":          getmodules.ErrNotArchive,
		"/encoded.zip":       getmodules.ErrNotArchive,
		"/br.tar.gz":         getmodules.ErrNotArchive,
		"/bad.zip":           getmodules.ErrUnsafeEntry,
		"/none.zip":          getmodules.ErrEmpty,
		"/forbidden.zip":     getmodules.ErrAuthentication,
		"/missing.zip":       fs.ErrNotExist,
		"/gone.zip":          fs.ErrNotExist,
		"/a.tar.xz":          getmodules.ErrUnsupportedArchive,
		"/a.gz":              getmodules.ErrUnsupportedArchive,
		"/a?archive=tar":     getmodules.ErrUnsupportedArchive,
		"/a?archive=xz":      getmodules.ErrUnsupportedArchive,
		"/a.zip?archive=txz": getmodules.ErrUnsupportedArchive,
	}
	for path, want := range tests {
		if _, _, err := fetchURL(t, newHTTPFetcher(), site.withUserinfo(path)+"#hunter2"); !errors.Is(err, want) {
			t.Errorf("%s: error is %v, want %v", path, err, want)
		}
	}
	_, _, err := fetchURL(t, newHTTPFetcher(), site.withUserinfo("/partial.zip?sig=hunter2"))
	var status *getmodules.StatusError
	if !errors.As(err, &status) || status.StatusCode != http.StatusPartialContent {
		t.Errorf("206: error is %v, want a *StatusError", err)
	}
}

func TestHTTPProgress(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": serve(sampleZip())})
	var last, total int64
	_, pkg, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip", func(req *getmodules.Request) {
		req.Progress = func(d, n int64) { last, total = d, n }
	})
	if size := int64(len(sampleZip())); err != nil || last != size || total != size || pkg.Bytes != size {
		t.Errorf("progress ended at %d of %d, package %+v, error %v; want %d bytes", last, total, pkg, err, size)
	}
}

func TestIsForgeArchive(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"https://github.com/o/r/archive/refs/tags/v1.tar.gz":                     true,
		"https://codeload.github.com/o/r/legacy.tar.gz/v1":                       true,
		"https://api.github.com/repos/o/r/tarball/v1":                            true,
		"https://api.github.com/repos/o/r/zipball/v1":                            true,
		"https://ghe.example.com/api/v3/repos/o/r/tarball/v1":                    true,
		"https://github.com/o/r/zipball/v1":                                      true,
		"https://gitlab.com/g/s/r/-/archive/v1/r-v1.tar.gz":                      true,
		"https://gitlab.example.com/api/v4/projects/1/repository/archive.tar.gz": true,
		"https://bitbucket.org/o/r/get/v1.zip":                                   true,
		"https://codeberg.org/o/r/archive/v1.zip":                                true,
		"https://github.com/o/r/releases/download/v1/m.zip":                      false,
		"https://example.com/archive/m.zip":                                      false,
		"https://example.com/m.zip":                                              false,
	}
	for address, want := range tests {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := getmodules.IsForgeArchive(u); got != want {
			t.Errorf("IsForgeArchive(%q) = %v, want %v", address, got, want)
		}
	}
}
