package getmodules_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

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
	for name, client := range testenv.SampleMap(clients, "git, in process") {
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
