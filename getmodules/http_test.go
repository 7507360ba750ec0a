package getmodules_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
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

// TestHTTPEncoded fetches archives that are sent with the encoding gzip. Limits and sums are those of the
// decoded archive, but a .tar.gz whose compression is declared as an encoding is the archive.
func TestHTTPEncoded(t *testing.T) {
	t.Parallel()
	zip := sampleZip()
	tgz := gzipped(tarOf(t, tarFile("main.tf", "x"), tarFile("sub/dir/a.tf", "y")))
	large := newZip(rawStored("main.tf", strings.Repeat("x", 5000))).bytes() // smaller when it is encoded
	encoded := func(encoding string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			serve(body)(w, r)
		}
	}
	cut := gzipped(zip)
	damaged := bytes.Clone(cut)
	damaged[len(damaged)-6] ^= 1 // of the CRC
	site := newSite(t, map[string]http.HandlerFunc{
		"/a.zip":       encoded("gzip", gzipped(zip)),
		"/x.zip":       encoded("X-Gzip", gzipped(zip)),
		"/a.tar.gz":    encoded("gzip", gzipped(tgz)),
		"/sent.tar.gz": encoded("gzip", tgz),
		"/sent.tgz":    encoded("x-gzip", tgz),
		"/large.zip":   encoded("gzip", gzipped(large)),
		"/tar.zip":     encoded("gzip", tgz),
		"/html.tar.gz": encoded("gzip", gzipped([]byte("<html>sign in</html>"))),
		"/plain.zip":   encoded("gzip", zip),
		"/cut.zip":     encoded("gzip", cut[:len(cut)-9]),
		"/crc.zip":     encoded("gzip", damaged),
		"/twice.zip":   encoded("gzip, gzip", gzipped(gzipped(zip))),
	})
	sum := func(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }
	for _, test := range []struct {
		address string
		archive []byte
		limit   int64
		want    error
	}{
		{"/a.zip", zip, 0, nil},
		{"/x.zip?checksum=" + sum(zip), zip, int64(len(zip)), nil},
		{"/a.zip?checksum=" + sum(gzipped(zip)), nil, 0, getmodules.ErrChecksum},
		{"/a.zip", nil, int64(len(zip)) - 1, getmodules.ErrTooLarge},
		{"/large.zip", nil, 5000, getmodules.ErrTooLarge},
		{"/a.tar.gz?checksum=" + sum(tgz), tgz, 0, nil},
		{"/sent.tar.gz?checksum=" + sum(tgz), tgz, 0, nil},
		{"/sent.tgz", tgz, int64(len(tgz)), nil},
		{"/tar.zip", nil, 0, getmodules.ErrNotArchive},
		{"/html.tar.gz", nil, 0, getmodules.ErrUnsafeArchive},
		{"/plain.zip", nil, 0, getmodules.ErrNotArchive},
		{"/cut.zip", nil, 0, io.ErrUnexpectedEOF},
		{"/crc.zip", nil, 0, getmodules.ErrNotArchive},
		{"/twice.zip", nil, 0, getmodules.ErrNotArchive},
	} {
		fetcher := newHTTPFetcher()
		fetcher.Limits.DownloadBytes = test.limit
		got, pkg, err := fetchURL(t, fetcher, site.URL+test.address)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want %v", test.address, err, test.want)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(sampleTree, got); diff != "" {
			t.Errorf("%s: tree differs (-want +got):\n%s", test.address, diff)
		}
		if pkg.ArchiveSum != "zh:"+sum(test.archive) || pkg.Bytes != int64(len(test.archive)) {
			t.Errorf("%s: %s and %d bytes, want those of what is decoded", test.address, pkg.ArchiveSum, pkg.Bytes)
		}
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
		testenv.Must(t, err)
		if got := getmodules.IsForgeArchive(u); got != want {
			t.Errorf("IsForgeArchive(%q) = %v, want %v", address, got, want)
		}
	}
}

// TestUserAgent checks the User-Agent header of a Fetcher's requests.
func TestUserAgent(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "cotter", "tool/1.2.3": "tool/1.2.3"} {
		web := webtest.New(t)
		web.Serve("https://example.com", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(sampleZip()) })
		f := newHTTPFetcher()
		f.HTTPClient, f.UserAgent = web.Client(), given
		if _, _, err := fetchURL(t, f, "https://example.com/a.zip"); err != nil {
			t.Error(err)
		}
		if got := web.Requests()[0].UserAgent(); got != want {
			t.Errorf("an archive is requested as %q, want %q", got, want)
		}
		world := modtest.New(t, modtest.Txtar(ociTree))
		f = newOCIFetcher(world)
		f.UserAgent = given
		if _, _, err := fetchURL(t, f, world.OCISource("net", "")); err != nil {
			t.Error(err)
		}
		for _, r := range world.Requests() {
			if got := r.Header.Get("User-Agent"); got != want {
				t.Errorf("%s is requested as %q, want %q", r.Path, got, want)
			}
		}
	}
}

// TestMessagesOfHTTP checks complete error messages, in which no address is repeated
// needlessly.
func TestMessagesOfHTTP(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve("https://example.com", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop.zip":
			http.Redirect(w, r, "/loop.zip", http.StatusFound)
		case "/plain.zip":
			http.Redirect(w, r, "http://example.com/x.zip", http.StatusFound)
		case "/moved.zip":
			http.Redirect(w, r, "https://nowhere.example/x.zip", http.StatusFound)
		case "/page":
			w.Header().Set("X-Terraform-Get", "https://example.com/404.zip")
		case "/sum.zip":
			_, _ = w.Write(sampleZip())
		case "/v2/token/manifests/latest":
			w.Header().Set("Www-Authenticate", `Bearer realm="https://example.com/token",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		case "/token":
			w.WriteHeader(http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	})
	const missing = "example.com answered 404 Not Found for "
	for address, want := range map[string]string{
		"https://example.com/404.zip":                                        missing + "/404.zip",
		"https://example.com/page":                                           `"https://example.com/404.zip": ` + missing + "/404.zip; the page https://example.com/page points there",
		"https://example.com/loop.zip":                                       `refused location: "https://example.com/loop.zip" redirects to "https://example.com/loop.zip": that is more than 5 redirects in a row`,
		"https://example.com/plain.zip":                                      `refused location: the server redirects to "http://example.com/x.zip": redirects from https to http are not followed`,
		"https://example.com/moved.zip":                                      "nowhere.example cannot be reached: connection refused (4 attempts); a redirect points there",
		"https://nowhere.example/x.zip":                                      "nowhere.example cannot be reached: connection refused (4 attempts)",
		"https://example.com/sum.zip?checksum=file:https://example.com/sums": `checksum argument: the file of checksums at "https://example.com/sums": ` + missing + "/sums",
		"oci://example.com/none":                                             missing + "/v2/none/manifests/latest",
		"oci://example.com/token":                                            `the registry's token service at "https://example.com": example.com answered 403 Forbidden: no credentials were sent`,
	} {
		f := newHTTPFetcher()
		f.HTTPClient = web.Client()
		_, _, err := fetchURL(t, f, address)
		want = fmt.Sprintf("cannot fetch %q: %s", addrs.Redact(address), want)
		if err == nil || err.Error() != want {
			t.Errorf("%s: error is\n%v, want\n%s", address, err, want)
		}
	}
}

// TestUnknownLength fetches an archive of unknown length, which ends when the connection
// is closed.
func TestUnknownLength(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n"+string(sampleZip()))
	}})
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip"); err != nil {
		t.Errorf("error is %v, want none: the archive itself shows its end", err)
	}
}

// TestFoundHTTPCredentials checks that the user's credentials are sent to the server that
// the address names, but not to another server that it redirects or points to.
func TestFoundHTTPCredentials(t *testing.T) {
	t.Parallel()
	users := map[string]string{} // by host and path
	note := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			user, _, _ := r.BasicAuth()
			users[r.Host+r.URL.Path] = user
			h(w, r)
		}
	}
	other := newSite(t, map[string]http.HandlerFunc{"/b.zip": note(serve(sampleZip()))})
	site := newSite(t, map[string]http.HandlerFunc{
		"/a.zip":    note(serve(sampleZip())),
		"/away.zip": note(redirectTo(302, other.URL+"/b.zip")),
		"/page":     note(leadTo(other.URL + "/b.zip")),
	})
	site.routes["/own"] = note(leadTo(site.URL + "/a.zip"))
	fetcher := newHTTPFetcher()
	fetcher.HTTPCredentials = func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
		if at.User != nil || at.RawQuery != "" || at.Fragment != "" {
			t.Errorf("asked for the credentials of %s", at)
		}
		return url.UserPassword("me", "secret"), nil
	}
	host, elsewhere := strings.TrimPrefix(site.URL, "http://"), strings.TrimPrefix(other.URL, "http://")
	for _, tt := range []struct {
		name, address string
		change        func(*getmodules.Request)
		want          map[string]string
	}{
		{"archive", "/a.zip?x=1", nil, map[string]string{host + "/a.zip": "me"}},
		{"named", "//you:secret@/a.zip", nil, map[string]string{host + "/a.zip": "you"}},
		{"redirect", "/away.zip", nil, map[string]string{host + "/away.zip": "me", elsewhere + "/b.zip": ""}},
		{"named page", "//you:secret@/own", nil, map[string]string{host + "/own": "you", host + "/a.zip": "me"}},
		{"page", "/own", nil, map[string]string{host + "/own": "me", host + "/a.zip": "me"}},
		{"page of another", "/page", nil, map[string]string{host + "/page": "me", elsewhere + "/b.zip": ""}},
		{"registry there", "/a.zip", func(r *getmodules.Request) { r.FromServer, r.Origin = true, site.URL+"/v1/" }, map[string]string{host + "/a.zip": "me"}},
		{"registry elsewhere", "/a.zip", func(r *getmodules.Request) { r.FromServer, r.Origin = true, other.URL }, map[string]string{host + "/a.zip": ""}},
	} {
		clear(users)
		address := site.URL + tt.address
		if user, ok := strings.CutPrefix(tt.address, "//you:secret@"); ok {
			address = strings.Replace(site.URL, "http://", "http://you:secret@", 1) + user
		}
		change := func(r *getmodules.Request) {
			if tt.change != nil {
				tt.change(r)
			}
		}
		if _, _, err := fetchURL(t, fetcher, address, change); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for at, want := range tt.want {
			if got, asked := users[at]; got != want || !asked {
				t.Errorf("%s: %s was asked by %q (%t), want %q", tt.name, at, got, asked, want)
			}
		}
	}
	broken := errors.New("broken file")
	fetcher.HTTPCredentials = func(context.Context, *url.URL) (*url.Userinfo, error) { return nil, broken }
	for _, path := range []string{"/a.zip", "/page"} {
		if _, _, err := fetchURL(t, fetcher, site.URL+path); !errors.Is(err, broken) {
			t.Errorf("Fetch = %v, want the failure to find credentials", err)
		}
	}
}
