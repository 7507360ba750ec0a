package getmodules_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
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

// TestRetries has the failures for which an archive is requested again. Package internal/net/httpx tests which
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

// busySite answers the first n requests with 429 and records the time of each request.
type busySite struct {
	retryAfter string
	n          int

	mu    sync.Mutex
	start time.Time
	at    []time.Duration
}

func (s *busySite) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Since(s.start))
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader(sampleZip()))}
	if len(s.at) <= s.n {
		answer.StatusCode, answer.Body = http.StatusTooManyRequests, http.NoBody
		answer.Header.Set("Retry-After", s.retryAfter)
	}
	return answer, nil
}

// TestLongPause checks that a fetch fails at once if a server asks for a pause that is too long.
func TestLongPause(t *testing.T) {
	t.Parallel()
	site := &busySite{retryAfter: "61", n: 1}
	f := &getmodules.Fetcher{HTTPClient: &http.Client{Transport: site}}
	_, err := f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("https://busy.example/a.zip"), Dir: newSandbox(t).dir})
	if len(site.at) != 1 || err == nil || !strings.Contains(err.Error(), "asks to wait 1m1s") {
		t.Errorf("%d requests, error %v; want one, and how long to wait", len(site.at), err)
	}
}

// TestPauseIsForAll checks that all requests to a host wait if it asks for a pause, and
// that requests to another host do not.
func TestPauseIsForAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		busy := &busySite{retryAfter: "20", n: 1, start: time.Now()}
		f := &getmodules.Fetcher{HTTPClient: &http.Client{Transport: busy}}
		var fetches sync.WaitGroup
		for i := range 5 {
			fetches.Go(func() {
				time.Sleep(time.Duration(i) * time.Second) // on synctest's clock
				host := "busy.example"
				if i == 3 {
					host = "idle.example"
				}
				pkg := addrs.ParseModulePackage(fmt.Sprintf("https://%s/%d.zip", host, i))
				if _, err := f.Fetch(t.Context(), getmodules.Request{Package: pkg, Dir: filepath.Join(dir, fmt.Sprint(i))}); err != nil {
					t.Error(err)
				}
			})
		}
		fetches.Wait()
		want := []time.Duration{0, 3 * time.Second, 20 * time.Second, 20 * time.Second, 20 * time.Second, 20 * time.Second}
		if diff := cmp.Diff(want, busy.at); diff != "" {
			t.Errorf("times of the requests (-want +got):\n%s", diff)
		}
	})
}

// failingFront is a server in front of another one. It answers the first requests with 503.
func failingFront(t testing.TB, failures int32, behind http.Handler) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var sent atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent.Add(1) <= failures {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front, &sent
}

// TestAttempts fetches from a server that fails a number of times, with all clients that send
// requests by http.
func TestAttempts(t *testing.T) {
	t.Parallel()
	git := newGitServer(t)
	gitMainTF(t, git)
	clients := map[string]struct {
		behind  http.Handler
		address string
		fetcher func(testing.TB) *getmodules.Fetcher
		// another is 1 if the installed git makes one more attempt.
		another int32
	}{
		"archive":          {serve(sampleZip()), "URL/a.zip", func(testing.TB) *getmodules.Fetcher { return newHTTPFetcher() }, 0},
		"git, in process":  {git.Config.Handler, "git::URL/net.git", func(t testing.TB) *getmodules.Fetcher { return newWireFetcher(t) }, 1},
		"git, no program":  {git.Config.Handler, "git::URL/net.git", newGitlessFetcher, 0},
		"git, built in":    {git.Config.Handler, "git::URL/net.git", func(t testing.TB) *getmodules.Fetcher { return newBuiltInFetcher(t) }, 0},
		"git, the program": {git.Config.Handler, "git::URL/net.git", func(t testing.TB) *getmodules.Fetcher { return newGitFetcher(t) }, 0},
	}
	for name, client := range testenv.SampleMap(clients, "archive", "git, in process") {
		for _, test := range []struct {
			attempts int
			failures int32
			good     bool
			requests int32 // only checked if not good
		}{
			{attempts: 0, failures: 3, good: true},
			{attempts: 0, failures: 100, requests: 4 + client.another},
			{attempts: 1, failures: 100, requests: 1 + client.another},
			{attempts: 2, failures: 1, good: true},
			{attempts: 2, failures: 100, requests: 2 + client.another},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				front, sent := failingFront(t, test.failures, client.behind)
				f := client.fetcher(t)
				f.Attempts, f.Backoff = test.attempts, func(int) time.Duration { return 0 }
				f.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				pkg := addrs.ParseModulePackage(strings.ReplaceAll(client.address, "URL", front.URL))
				_, err := f.Fetch(t.Context(), getmodules.Request{Package: pkg, Dir: newSandbox(t).dir})
				if test.good != (err == nil) {
					t.Errorf("with %d attempts and %d failures, Fetch = %v", test.attempts, test.failures, err)
				}
				if !test.good && sent.Load() != test.requests {
					t.Errorf("with %d attempts, %d requests were sent, want %d: %v", test.attempts, sent.Load(), test.requests, err)
				}
			})
		}
	}
}

// drip is a writer that sends one byte per millisecond until the client disconnects.
type drip struct {
	http.ResponseWriter
	ctx context.Context
}

func (d drip) Write(p []byte) (int, error) {
	for i := range p {
		select {
		case <-d.ctx.Done():
			return i, d.ctx.Err()
		case <-time.After(time.Millisecond):
		}
		if _, err := d.ResponseWriter.Write(p[i : i+1]); err != nil {
			return i, err
		}
		_ = http.NewResponseController(d.ResponseWriter).Flush()
	}
	return len(p), nil
}

// TestMinRate uses servers that are slow but never silent. The fetch fails if there is a
// minimum rate, and succeeds if there is not.
func TestMinRate(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, first, _ := gitMainTF(t, s)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slow := drip{w, r.Context()}
		if strings.HasSuffix(r.URL.Path, ".zip") {
			_, _ = slow.Write(sampleZip())
			return
		}
		s.Config.Handler.ServeHTTP(slow, r)
	}))
	t.Cleanup(server.Close)
	git := getmodules.Request{Package: addrs.ParseModulePackage("git::" + server.URL + "/net.git"), Revision: first}
	tip := getmodules.Request{Package: git.Package}
	for name, tt := range map[string]struct {
		req     getmodules.Request
		backend getmodules.GitBackend
	}{
		"archive":  {req: getmodules.Request{Package: addrs.ParseModulePackage(server.URL + "/net.zip")}},
		"wire":     {req: git},
		"built-in": {req: tip, backend: getmodules.GitBuiltIn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, rate := range []int64{1 << 40, -1} {
				f := newAutoFetcher(t)
				f.GitBackend, f.Attempts, f.Limits.MinRate = tt.backend, 1, rate
				f.StallTimeout = map[bool]time.Duration{true: 30 * time.Millisecond, false: time.Minute}[rate > 0]
				tt.req.Dir = filepath.Join(t.TempDir(), "tree")
				_, err := f.Fetch(t.Context(), tt.req)
				if rate > 0 && (err == nil || !strings.Contains(err.Error(), "the server has sent")) {
					t.Errorf("with a floor of %d bytes a second: %v, want an error about it", rate, err)
				}
				if rate < 0 && err != nil {
					t.Errorf("without a floor: %v", err)
				}
			}
		})
	}
}

// TestMinRateOfGetter uses a getter that writes one byte at a time.
func TestMinRateOfGetter(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
		for text := "x"; ctx.Err() == nil; text += "x" {
			testenv.WriteFile(t, from.Path, text)
		}
		return getmodules.Downloaded{}, ctx.Err()
	}
	f := &getmodules.Fetcher{StallTimeout: time.Millisecond, Limits: getmodules.Limits{MinRate: 1 << 40}}
	_, _, err := fetchDemo(t, f, getmodules.Request{Package: addrs.ParseModulePackage("demo::https://h.example/n.zip")}, slow)
	if err == nil || !strings.Contains(err.Error(), "too slow") {
		t.Errorf("error is %v, want that it is too slow", err)
	}
}

// TestMinRateOfGit checks the arguments with which the minimum rate is passed to the
// installed git.
func TestMinRateOfGit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rate   int64
		window time.Duration
		want   string
	}{
		{0, 0, "http.lowSpeedLimit=4096 -c http.lowSpeedTime=120 "},
		{100, 1500 * time.Millisecond, "http.lowSpeedLimit=100 -c http.lowSpeedTime=2 "},
		{-1, 0, ""},
	} {
		dir := t.TempDir()
		git, log := filepath.Join(dir, "git"), filepath.Join(dir, "log")
		gitScript(t, git, `case "$*" in *version) echo git version 2.40.0;; *ls-remote*) echo "$*" > `+log+`; esac`)
		f := newGitFetcher(t)
		f.Git.Path, f.StallTimeout, f.Limits.MinRate = git, tt.window, tt.rate
		if _, err := f.Tags(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::https://git.example.com/net.git")}); err != nil {
			t.Fatal(err)
		}
		args, err := os.ReadFile(log)
		if err != nil || !strings.Contains(string(args), tt.want) || tt.want == "" && strings.Contains(string(args), "lowSpeed") {
			t.Errorf("with a floor of %d over %v git gets %q, %v, want %q", tt.rate, tt.window, args, err, tt.want)
		}
	}
}
