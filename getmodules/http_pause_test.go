package getmodules_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

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
	if len(site.at) != 1 || err == nil || !strings.Contains(err.Error(), "asks clients to wait") {
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
