package getproviders_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

type answer registryclient.ProviderPackage

func (a answer) ProviderVersions(context.Context, addrs.Provider) (registryclient.ProviderListing, error) {
	return registryclient.ProviderListing{}, nil
}

func (a answer) ProviderPackage(context.Context, addrs.Provider, versions.Version, addrs.Platform) (registryclient.ProviderPackage, error) {
	return registryclient.ProviderPackage(a), nil
}

var content = bytes.Repeat([]byte("0123456789abcdef"), 16<<10)

// download downloads the archive at a URL of a web. The announced sum is that of content.
func download(t testing.TB, web *webtest.Web, url string, change func(*getproviders.Direct, *answer)) error {
	t.Helper()
	a := answer{URL: url, Sum: fmt.Sprintf("%x", sha256.Sum256(content)), Platform: linux}
	d := &getproviders.Direct{HTTPClient: web.Client(), Backoff: func(int) time.Duration { return 0 }}
	if change != nil {
		change(d, &a)
	}
	d.Registry = a
	pkg, err := d.Package(t.Context(), addrs.Provider{}, v100, linux)
	testenv.Must(t, err)
	if strings.Contains(pkg.Location(), webtest.Canary) {
		t.Errorf("the location is %q", pkg.Location())
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	testenv.Must(t, err)
	defer file.Close()
	var last, total int64
	err = pkg.Download(t.Context(), file, func(done, of int64) { last, total = done, of })
	if err != nil {
		return err
	}
	got, err := os.ReadFile(file.Name())
	if !bytes.Equal(got, content) {
		t.Errorf("got %d bytes that are not the archive, %v", len(got), err)
	}
	if size := int64(len(content)); last != size || total != size {
		t.Errorf("progress ended at %d of %d bytes", last, total)
	}
	return nil
}

func cutAfter(n int, header http.Header, serve func(http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		serve(&cutWriter{ResponseWriter: w, left: n}, r)
	}
}

type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(b []byte) (int, error) {
	if c.left -= len(b); c.left < 0 {
		_, _ = c.ResponseWriter.Write(b[:len(b)+c.left])
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(b)
}

func serve(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func serveWhole(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	_, _ = io.Copy(w, bytes.NewReader(content)) // some tests close the connection early
}

const origin = "https://files.example.com"

func TestDownloadCut(t *testing.T) {
	t.Parallel()
	etag := http.Header{"Etag": {`"1"`}}
	for name, test := range map[string]struct {
		after    int
		header   http.Header
		serve    http.HandlerFunc
		requests int // 0 means that it fails
	}{
		"resumed every 64 KiB": {after: 64 << 10, header: etag, serve: serve, requests: 4},
		"by the modification time": {
			after: 64 << 10, header: http.Header{"Last-Modified": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, serve: serveDated,
			requests: 4,
		},
		"not at all cut":            {after: 1 << 20, serve: serve, requests: 1},
		"nothing identifies it":     {after: 64 << 10, serve: serve},
		"a weak ETag only":          {after: 64 << 10, header: http.Header{"Etag": {`W/"1"`}}, serve: serve},
		"the server has no ranges":  {after: 64 << 10, header: etag, serve: serveWhole},
		"less than an advance each": {after: 1 << 10, header: etag, serve: serve},
	} {
		web := webtest.New(t)
		web.Serve(origin, cutAfter(test.after, test.header, test.serve))
		err := download(t, web, origin+"/a.zip", nil)
		if _, isNetwork := errors.AsType[*httpx.NetworkError](err); test.requests == 0 != isNetwork {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(web.Requests()); err == nil && n != test.requests {
			t.Errorf("%s: %d requests, want %d", name, n, test.requests)
		}
	}
}

func serveDated(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "", time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC), bytes.NewReader(content))
}

func TestDownloadPart(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]http.HandlerFunc{
		"the file has changed": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Etag", `"2"`)
			serve(w, r)
		},
		"all of it": serveWhole,
		"another part": func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Range", "bytes=7-")
			r.Header.Del("If-Range")
			serve(w, r)
		},
		"not satisfiable": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		},
		"a wrong part": func(w http.ResponseWriter, r *http.Request) {
			start := 64 << 10
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(content)-1, len(content)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(make([]byte, len(content)-start))
		},
	} {
		web := webtest.New(t)
		web.Serve(origin, func(w http.ResponseWriter, r *http.Request) {
			switch n := len(web.Requests()); {
			case n == 1:
				cutAfter(64<<10, http.Header{"Etag": {`"1"`}}, serve)(w, r)
			case r.Header.Get("Range") != "":
				rest(w, r)
			default:
				serve(w, r)
			}
		})
		if err := download(t, web, origin+"/a.zip", nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r := web.Requests()[1]; r.Header.Get("If-Range") != `"1"` || r.Header.Get("Range") != "bytes=65536-" {
			t.Errorf("%s: the second request has %v", name, r.Header)
		}
	}
}

// TestDownloadRedirects checks which redirects a download follows. Package httpx has those that nothing
// follows.
func TestDownloadRedirects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		url, to string
		ok      bool
	}{
		"another host":      {origin + "/r", "https://cdn.example.com/a.zip", true},
		"http to https":     {"http://files.example.com/r", "https://cdn.example.com/a.zip", true},
		"https to http":     {origin + "/r", "http://cdn.example.com/a.zip", false},
		"this machine":      {origin + "/r", "https://127.0.0.1/a.zip", false},
		"user and password": {"https://u:" + webtest.Canary + "@files.example.com/r", "https://cdn.example.com/a.zip", true},
		"a file":            {"file:///etc/passwd", "", false},
	} {
		web := webtest.New(t)
		handler := func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/r" {
				http.Redirect(w, r, test.to, http.StatusFound)
				return
			}
			cutAfter(128<<10, http.Header{"Etag": {`"1"`}}, serve)(w, r)
		}
		for _, at := range []string{origin, "http://files.example.com", "https://cdn.example.com", "http://cdn.example.com"} {
			web.Serve(at, handler)
		}
		err := download(t, web, test.url, nil)
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			webtest.CheckText(t, err.Error())
		}
		for _, r := range web.Requests() {
			if _, _, sent := r.BasicAuth(); sent != (r.URL.Path == "/r" && strings.Contains(test.url, "@")) {
				t.Errorf("%s: %s was sent with %v", name, r.URL, r.Header)
			}
		}
	}
}

func TestDownloadRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		serve  http.HandlerFunc
		change func(*getproviders.Direct, *answer)
		want   string
	}{
		"another archive": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "other") }, nil, "not the announced zh:"},
		"too large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(1<<30+1))
		}, nil, "larger than the limit of 1073741824 bytes"},
		"another size": {serve, func(_ *getproviders.Direct, a *answer) {
			a.Packages = map[addrs.Platform]registryclient.ReportedPackage{linux: {Size: 7}}
		}, "7 were announced"},
		"not found":      {http.NotFound, nil, "404"},
		"no content":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, nil, "204"},
		"never anything": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(d *getproviders.Direct, _ *answer) { d.StallTimeout, d.Attempts = 20*time.Millisecond, 1 }, "sent nothing"},
	} {
		web := webtest.New(t)
		web.Serve(origin, test.serve)
		err := download(t, web, origin+"/a.zip?token="+webtest.Canary, test.change)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
			continue
		}
		webtest.CheckText(t, err.Error())
	}
}

func (answer) ProviderRenamed(context.Context, addrs.Provider) (addrs.Provider, bool, error) {
	return addrs.Provider{}, false, nil
}
