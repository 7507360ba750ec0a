package getmodules_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// failing returns a handler that calls fail for the first n requests and then serves the
// archive.
func failing(n int, fail http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if n > 0 {
			n--
			fail(w, r)
			return
		}
		serve(sampleZip())(w, r)
	}
}

func answer(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// cutOff returns a handler that sends the first part bytes of the archive and closes the
// connection. If announced is set, it sends the Content-Length of the whole archive;
// otherwise the body is chunked.
func cutOff(part int, announced bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if announced {
			w.Header().Set("Content-Length", strconv.Itoa(len(sampleZip())))
		}
		_, _ = w.Write(sampleZip()[:part])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// TestRetries has the failures for which an archive is requested again. Package internal/httpx tests which
// failures these are, and TestAttempts how often.
func TestRetries(t *testing.T) {
	t.Parallel()
	half := len(sampleZip()) / 2
	tests := map[string]struct {
		route    http.HandlerFunc
		requests int
		good     bool
	}{
		"cut at 1":     {failing(1, cutOff(1, true)), 2, true},
		"cut in half":  {failing(1, cutOff(half, true)), 2, true},
		"cut near end": {failing(1, cutOff(2*half-1, true)), 2, true},
		"cut chunks":   {failing(2, cutOff(half, false)), 3, true},
		"always cut":   {failing(9, cutOff(half, true)), 4, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newSite(t, map[string]http.HandlerFunc{"/a.zip": test.route})
			f := newHTTPFetcher()
			// Without this, net/http itself repeats requests on reused connections.
			f.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			got, _, err := fetchURL(t, f, site.URL+"/a.zip")
			if test.good != (err == nil) {
				t.Errorf("error is %v", err)
			}
			if diff := cmp.Diff(sampleTree, got); test.good && diff != "" {
				t.Errorf("tree differs (-want +got):\n%s", diff)
			}
			if n := len(site.asked()); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
		})
	}
}

func TestBackoffNumbers(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": failing(9, answer(503))})
	var got []int
	f := &getmodules.Fetcher{Backoff: func(retry int) time.Duration { got = append(got, retry); return 0 }}
	_, _, err := fetchURL(t, f, site.URL+"/a.zip")
	if !cmp.Equal(got, []int{1, 2, 3}) {
		t.Errorf("Backoff was asked for %v, error %v", got, err)
	}
}

func TestDownloadLimit(t *testing.T) {
	t.Parallel()
	size := len(sampleZip())
	site := newSite(t, map[string]http.HandlerFunc{
		"/length.zip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(size))
			_, _ = w.Write(sampleZip())
		},
		"/chunks.zip": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(sampleZip()[:10])
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(sampleZip()[10:])
		},
	})
	for path := range site.routes {
		f := newHTTPFetcher()
		f.Limits.DownloadBytes = int64(size)
		if _, _, err := fetchURL(t, f, site.URL+path); err != nil {
			t.Errorf("%s at its limit: %v", path, err)
		}
		f.Limits.DownloadBytes--
		if _, _, err := fetchURL(t, f, site.URL+path); !errors.Is(err, getmodules.ErrTooLarge) {
			t.Errorf("%s over its limit: error is %v, want ErrTooLarge", path, err)
		}
	}
}

// TestStall uses servers that stop sending. The client must give up.
func TestStall(t *testing.T) {
	t.Parallel()
	silent := func(before int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if before > 0 {
				_, _ = w.Write(sampleZip()[:before])
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}
	}
	site := newSite(t, map[string]http.HandlerFunc{"/silent.zip": silent(0), "/half.zip": silent(50)})
	for path := range site.routes {
		f := newHTTPFetcher()
		f.StallTimeout, f.Attempts = 200*time.Millisecond, 2
		_, _, err := fetchURL(t, f, site.URL+path)
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%s: error is %v, want one about the stall", path, err)
		}
	}
	if n := len(site.asked()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

func TestHTTPCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "PK")
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	}})
	box := newSandbox(t)
	_, err := newHTTPFetcher().Fetch(ctx, getmodules.Request{Package: addrs.ParseModulePackage(site.URL + "/a.zip"), Dir: box.dir})
	if !errors.Is(err, context.Canceled) || len(site.asked()) != 1 {
		t.Errorf("error is %v after %d requests, want context.Canceled after one", err, len(site.asked()))
	}
}
