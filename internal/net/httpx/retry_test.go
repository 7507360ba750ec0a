package httpx_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/testenv"
)

type script struct {
	mu    sync.Mutex
	start time.Time
	at    []time.Duration
	steps []step
}

type step struct {
	status     int
	retryAfter string
	err        error
	body       io.Reader
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.at) == 0 {
		s.start = time.Now()
	}
	next := s.steps[min(len(s.at), len(s.steps)-1)]
	s.at = append(s.at, time.Since(s.start))
	if next.err != nil {
		return nil, next.err
	}
	resp := &http.Response{
		StatusCode: next.status, ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, ContentLength: -1, Request: req,
	}
	if next.retryAfter != "" {
		resp.Header.Set("Retry-After", next.retryAfter)
	}
	if next.body != nil {
		resp.Body = io.NopCloser(next.body)
	}
	return resp, nil
}

func cut() io.Reader { return io.MultiReader(strings.NewReader("half"), failing{io.ErrUnexpectedEOF}) }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func seconds(list ...int) []time.Duration {
	var out []time.Duration
	for _, s := range list {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		header string
		at     []time.Duration // the times of the requests; nil if Cotter chooses the waits
		status int
	}{
		{"7", seconds(0, 7), 200},
		{"0", seconds(0, 0), 200},
		{"60", seconds(0, 60), 200},
		{"61", seconds(0), 429},
		{"Sat, 01 Jan 2000 00:00:30 GMT", seconds(0, 30), 200}, // synctest's clock starts at midnight
		{"soon", nil, 200},
		{"", nil, 200},
	}
	for _, test := range tests {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			t.Run(fmt.Sprint(test.header, " ", status), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &script{steps: []step{{status: status, retryAfter: test.header}, {status: 200}}}
					c := httpx.Client{HTTP: &http.Client{Transport: s}}
					answer, err := read(&c, get(t, "https://example.com/"), 100)
					testenv.Must(t, err)
					if test.status == 200 != (answer.StatusCode/100 == 2) {
						t.Errorf("status = %d, want %d", answer.StatusCode, test.status)
					}
					if test.at != nil {
						if diff := cmp.Diff(test.at, s.at); diff != "" {
							t.Errorf("times of the requests (-want +got):\n%s", diff)
						}
					} else if len(s.at) != 2 || s.at[1] < 250*time.Millisecond || s.at[1] > 500*time.Millisecond {
						t.Errorf("times of the requests = %v, want the second within 250 to 500 ms", s.at)
					}
				})
			})
		}
	}
}

func TestWaitsAreBoundedInTotal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{status: 429, retryAfter: "50"}}}
		c := httpx.Client{HTTP: &http.Client{Transport: s}, Retry: httpx.Retry{Attempts: 101}}
		answer, err := read(&c, get(t, "https://example.com/"), 100)
		testenv.Must(t, err)
		if diff := cmp.Diff(seconds(0, 50, 100, 150, 200, 250, 300), s.at); diff != "" {
			t.Errorf("times of the requests (-want +got):\n%s", diff)
		}
		if want := 50 * time.Second; answer.RetryAfter.Wait != want {
			t.Errorf("RetryAfter = %v, want %v", answer.RetryAfter, want)
		}
	})
}

func TestWaitsGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{status: 500}}}
		c := httpx.Client{HTTP: &http.Client{Transport: s}, Retry: httpx.Retry{Attempts: 7, FirstWait: time.Second}}
		if _, err := read(&c, get(t, "https://example.com/"), 100); err != nil {
			t.Fatal(err)
		}
		longest := seconds(1, 2, 4, 8, 16, 16)
		if len(s.at) != 7 {
			t.Fatalf("%d requests, want 7", len(s.at))
		}
		for i, want := range longest {
			if got := s.at[i+1] - s.at[i]; got < want/2 || got > want {
				t.Errorf("wait %d = %v, want %v to %v", i, got, want/2, want)
			}
		}
	})
}

func TestWhatIsRetried(t *testing.T) {
	t.Parallel()
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	tests := map[string]struct {
		first    step
		requests int
	}{
		"200":              {step{status: 200}, 1},
		"204":              {step{status: 204}, 1},
		"400":              {step{status: 400}, 1},
		"401":              {step{status: 401}, 1},
		"403":              {step{status: 403}, 1},
		"404":              {step{status: 404}, 1},
		"429":              {step{status: 429}, 2},
		"500":              {step{status: 500}, 2},
		"501":              {step{status: 501}, 1},
		"502":              {step{status: 502}, 2},
		"599":              {step{status: 599}, 2},
		"reset":            {step{err: reset}, 2},
		"early end":        {step{err: io.EOF}, 2},
		"short body":       {step{status: 200, body: cut()}, 2},
		"large body":       {step{status: 200, body: strings.NewReader(strings.Repeat("x", 101))}, 1},
		"temporary DNS":    {step{err: &net.DNSError{IsTemporary: true}}, 2},
		"no such name":     {step{err: &net.DNSError{IsNotFound: true}}, 1},
		"bad certificate":  {step{err: &tls.CertificateVerificationError{Err: errors.New("x")}}, 1},
		"http on TLS port": {step{err: tls.RecordHeaderError{Msg: "x"}}, 1},
		"1000":             {step{status: 1000}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{steps: []step{test.first, {status: 200}}}
			c := httpx.Client{HTTP: &http.Client{Transport: s}, Retry: httpx.Retry{FirstWait: time.Nanosecond}}
			_, err := read(&c, get(t, "https://example.com/"), 100)
			if len(s.at) != test.requests {
				t.Errorf("%d requests (%v), want %d", len(s.at), err, test.requests)
			}
			if test.requests == 2 && err != nil {
				t.Errorf("Read = %v after the second request, want success", err)
			}
		})
	}
}

func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]int{0: 4, 1: 1, 2: 2, 8: 8, -1: 1} {
		s := &script{steps: []step{{status: 503}}}
		c := httpx.Client{HTTP: &http.Client{Transport: s}, Retry: httpx.Retry{Attempts: attempts, FirstWait: time.Nanosecond}}
		answer, err := read(&c, get(t, "https://example.com/"), 100)
		testenv.Must(t, err)
		if answer.Attempts != want || len(s.at) != want {
			t.Errorf("Attempts = %d: %d attempts and %d requests, want %d", attempts, answer.Attempts, len(s.at), want)
		}
	}
}

func TestCanceledWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{status: 429, retryAfter: "60"}}}
		c := httpx.Client{HTTP: &http.Client{Transport: s}}
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the user has left")
		done := make(chan error)
		go func() {
			_, err := read(&c, get(t, "https://example.com/").WithContext(ctx), 100)
			done <- err
		}()
		synctest.Wait()
		before := time.Now()
		cancel(cause)
		if err := <-done; !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("Read = %v, want context.Canceled and its cause", err)
		}
		if waited := time.Since(before); waited != 0 {
			t.Errorf("canceling took %v", waited)
		}
	})
}

// TestPausesAreShared sends three requests. The server asks for a pause in its answer to the
// first.
func TestPausesAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{status: 429, retryAfter: "20"}, {status: 200}}}
		c := httpx.Client{HTTP: &http.Client{Transport: s}, Retry: httpx.Retry{Pauses: new(httpx.Pauses)}}
		var asking sync.WaitGroup
		for _, url := range []string{"https://a.example/1", "https://a.example/2", "https://b.example/"} {
			asking.Go(func() {
				if answer, err := read(&c, get(t, url), 100); err != nil || answer.StatusCode/100 != 2 {
					t.Errorf("%s: %v, %v", url, answer, err)
				}
			})
			synctest.Wait()
		}
		asking.Wait()
		if diff := cmp.Diff(seconds(0, 0, 20, 20), s.at); diff != "" {
			t.Errorf("times of the requests (-want +got):\n%s", diff)
		}
	})
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its clock starts at midnight
		for header, want := range map[string]time.Duration{
			"0": 0, "1": time.Second, "86400": 24 * time.Hour,
			"99999999999":                   math.MaxInt64,
			"99999999999999999999999":       math.MaxInt64,
			"Sat, 01 Jan 2000 00:00:30 GMT": 30 * time.Second,
			"Fri, 31 Dec 1999 23:00:00 GMT": 0,
		} {
			if wait, asked := retryAfter(header); wait != want || !asked {
				t.Errorf("ParseRetryAfter(%q) = %v, %v; want %v, true", header, wait, asked, want)
			}
		}
		for _, header := range []string{"", "-5", "1.5", "soon", "1, 2", "+1", "0x10"} {
			if wait, asked := retryAfter(header); asked || wait != 0 {
				t.Errorf("ParseRetryAfter(%q) = %v, %v; want 0, false", header, wait, asked)
			}
		}
	})
}

func TestPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pauses httpx.Pauses
		pauses.Add("a.example", 30*time.Second)
		pauses.Add("a.example", 10*time.Second) // a shorter pause does not end a longer one
		pauses.Add("b.example", 24*time.Hour)
		start := time.Now()
		for _, test := range []struct {
			host string
			at   time.Duration
		}{{"c.example", 0}, {"a.example", 30 * time.Second}, {"a.example", 30 * time.Second}, {"b.example", httpx.MaxPause}} {
			if err := pauses.Wait(t.Context(), test.host); err != nil {
				t.Error(err)
			}
			if now := time.Since(start); now != test.at {
				t.Errorf("Wait for %s ended at %v, want %v", test.host, now, test.at)
			}
		}
	})
}

func TestPausesCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var pauses httpx.Pauses
		pauses.Add("a.example", time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, h := range []*httpx.Pauses{&pauses, &pauses, nil} {
			if err := h.Wait(ctx, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Wait = %v, want context.DeadlineExceeded", err)
			}
		}
	})
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, header := range []string{"1", "0", "-5", "99999999", "Sat, 01 Jan 2000 00:00:30 GMT", "soon", ""} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if wait, asked := retryAfter(header); wait < 0 || !asked && wait != 0 {
			t.Errorf("ParseRetryAfter(%q) = %v, %v", header, wait, asked)
		}
	})
}

func retryAfter(header string) (wait time.Duration, asked bool) {
	r := httpx.ParseRetryAfter(header)
	return r.Wait, r.Asked
}
