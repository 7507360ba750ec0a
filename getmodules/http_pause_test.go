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

// TestRetryAfter checks the forms of the Retry-After header. If the header is not valid,
// the fetcher uses its own backoff.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		header string
		second time.Duration // time of the second request; negative if there must not be one
		own    bool
	}{
		{"7", 7 * time.Second, false},
		{"0", 0, false},
		{"60", time.Minute, false},
		{"61", -1, false},
		{"99999999999999999999", -1, false},
		{"Sat, 01 Jan 2000 00:00:30 GMT", 30 * time.Second, false}, // the clock of synctest starts at midnight
		{"Fri, 31 Dec 1999 23:00:00 GMT", 0, false},
		{"Sat, 01 Jan 2000 01:00:00 GMT", -1, false},
		{"-5", 0, true},
		{"soon", 0, true},
	}
	for _, test := range tests {
		t.Run(test.header, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "package")
			synctest.Test(t, func(t *testing.T) {
				site := &busySite{retryAfter: test.header, n: 1, start: time.Now()}
				f := &getmodules.Fetcher{HTTPClient: &http.Client{Transport: site}}
				_, err := f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("https://busy.example/a.zip"), Dir: dir})
				switch {
				case test.second < 0:
					if len(site.at) != 1 || err == nil || !strings.Contains(err.Error(), "asks clients to wait") {
						t.Errorf("requests at %v, error %v; want one, and how long to wait", site.at, err)
					}
				case err != nil || len(site.at) != 2:
					t.Errorf("requests at %v, error %v", site.at, err)
				case test.own && (site.at[1] < 250*time.Millisecond || site.at[1] > 750*time.Millisecond):
					t.Errorf("the second request is at %v, want it by our own wait", site.at[1])
				case !test.own && site.at[1] != test.second:
					t.Errorf("the second request is at %v, want %v", site.at[1], test.second)
				}
			})
		})
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
