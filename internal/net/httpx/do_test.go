package httpx_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// slow is a body that delivers some bytes at intervals and never ends. It stops when the request
// is canceled, like the bodies of net/http.
type slow struct {
	ctx   context.Context
	every time.Duration
	bytes int
}

func (s slow) Read(p []byte) (int, error) {
	timer := time.NewTimer(s.every)
	defer timer.Stop()
	select {
	case <-timer.C:
		return min(s.bytes, len(p)), nil
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

func (slow) Close() error { return nil }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// read returns the last answer with its body, whatever its status.
func read(c *httpx.Client, req *http.Request, limit int64) (*httpx.Answer, error) {
	answer, _, err := httpx.Document[*httpx.Answer]{
		Login: httpx.Login{
			Request: func() (*http.Request, error) { return req, nil },
			Renewed: func(*http.Request) bool { return false },
		},
		Limit: limit,
		Read:  func(answer *httpx.Answer) (*httpx.Answer, error) { return answer, nil },
	}.Get(c)
	return answer, err
}

func TestDownloadsAreWatched(t *testing.T) {
	t.Parallel()
	tests := []struct {
		every, ends time.Duration
		bytes       int
		minRate     int64
		want        error
	}{
		{2 * time.Minute, time.Minute, 1, 0, httpx.ErrStalled},
		{50 * time.Second, 2 * time.Minute, 1, 0, httpx.ErrStalled},
		{time.Second, 2 * time.Minute, 1 << 10, 0, httpx.ErrStalled},
		{time.Second, time.Hour, 5 << 10, 0, httpx.ErrTooSlow},
		{time.Second, time.Hour, 1 << 10, 1000, httpx.ErrTooSlow},
		{50 * time.Second, time.Hour, 1, -1, httpx.ErrTooSlow},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			transport := roundTrip(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, ProtoMajor: 2, ContentLength: -1, Request: req,
					Header: http.Header{}, Body: slow{req.Context(), test.every, test.bytes}}, nil
			})
			c := httpx.Client{
				HTTP: &http.Client{Transport: transport, Timeout: time.Second}, TotalTimeout: time.Hour,
				Retry: httpx.Retry{Attempts: 1}, Floor: httpx.Floor{PerSecond: test.minRate, Window: time.Minute},
			}
			start := time.Now()
			err := c.Do(get(t, "https://example.com/"), func(resp *httpx.Response) error {
				_, err := io.Copy(io.Discard, resp.Body)
				return err
			})
			if !errors.Is(err, test.want) {
				t.Errorf("%d bytes every %v: %v, want %v", test.bytes, test.every, err, test.want)
			}
			if got := time.Since(start); got != test.ends {
				t.Errorf("%d bytes every %v: ended after %v, want %v", test.bytes, test.every, got, test.ends)
			}
		})
	}
}

var never = roundTrip(func(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
})

func TestServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		client httpx.Client
		ends   time.Duration
		want   error
	}{
		"floor":           {httpx.Client{Floor: httpx.Floor{Window: time.Minute}, Retry: httpx.Retry{Attempts: 1}}, time.Minute, httpx.ErrStalled},
		"floor and retry": {httpx.Client{Floor: httpx.Floor{Window: time.Minute}, Retry: httpx.Retry{Attempts: 3, Backoff: noWait}}, 3 * time.Minute, httpx.ErrStalled},
		"attempt":         {httpx.Client{AttemptTimeout: time.Second, Retry: httpx.Retry{Attempts: 3, Backoff: noWait}}, 3 * time.Second, nil},
		"total":           {httpx.Client{AttemptTimeout: time.Second, TotalTimeout: 90 * time.Second, Retry: httpx.Retry{Attempts: 1001, Backoff: noWait}}, 90 * time.Second, httpx.ErrTooSlow},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				test.client.HTTP = &http.Client{Transport: never}
				start := time.Now()
				_, err := read(&test.client, get(t, "https://example.com/"), 100)
				if err == nil || test.want != nil && !errors.Is(err, test.want) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Read = %v, want %v", err, test.want)
				}
				if got := time.Since(start); got != test.ends {
					t.Errorf("Read ended after %v, want %v", got, test.ends)
				}
			})
		})
	}
}

func noWait(int) time.Duration { return 0 }

func TestOtherStatuses(t *testing.T) {
	t.Parallel()
	s := &script{steps: []step{{status: 503}, {status: 404, body: strings.NewReader("gone")}}}
	c := httpx.Client{HTTP: &http.Client{Transport: s}, Retry: httpx.Retry{FirstWait: time.Nanosecond}}
	err := c.Do(get(t, "https://example.com/"), func(*httpx.Response) error {
		t.Error("a 404 is received")
		return nil
	})
	status, ok := errors.AsType[*httpx.StatusError](err)
	if !ok || status.Answer.StatusCode != 404 || string(status.Answer.Body) != "gone" || status.Answer.Attempts != 2 {
		t.Errorf("Do = %+v", err)
	}
	if want := "example.com answered 404 Not Found for / (2 attempts)"; err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
}

func TestReceiverDecides(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is full")
	for want, failed := range map[int]error{1: broken, 3: &httpx.TemporaryError{Err: broken}} {
		received := 0
		c := httpx.Client{HTTP: &http.Client{Transport: &script{steps: []step{{status: 200}}}}, Retry: httpx.Retry{Attempts: 3, FirstWait: time.Nanosecond}}
		err := c.Do(get(t, "https://example.com/"), func(resp *httpx.Response) error {
			if received++; resp.Attempts != received {
				t.Errorf("attempt %d says that it is number %d", received, resp.Attempts)
			}
			return failed
		})
		if !errors.Is(err, broken) || received != want {
			t.Errorf("Do = %v after %d answers, want %v after %d", err, received, broken, want)
		}
	}
}

// TestRequestsWithBodies checks that each attempt sends the whole body, and that such requests
// are not redirected.
func TestRequestsWithBodies(t *testing.T) {
	t.Parallel()
	var got []string
	web := webtest.New(t)
	web.Serve("https://example.com", func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = append(got, string(text))
		if len(got) == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		http.Redirect(w, r, "/x", http.StatusTemporaryRedirect)
	})
	c := httpx.Client{HTTP: web.Client(), MaxRedirects: 3, Retry: httpx.Retry{FirstWait: time.Nanosecond}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com/", strings.NewReader("want"))
	testenv.Must(t, err)
	_, err = read(&c, req, 100)
	if _, ok := errors.AsType[*httpx.RedirectError](err); !ok {
		t.Errorf("Read = %v, want *RedirectError", err)
	}
	if diff := cmp.Diff([]string{"want", "want"}, got); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

func TestRoundTripper(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve("https://example.com", redirect("https://other.example.com/end", http.StatusFound))
	web.Serve("https://other.example.com", hello)
	for redirects, want := range map[int]int{0: http.StatusFound, 1: http.StatusOK} {
		client := http.Client{
			Transport:     &httpx.Client{HTTP: web.Client(), MaxRedirects: redirects},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		resp, err := client.Do(get(t, "https://example.com/"))
		testenv.Must(t, err)
		if resp.StatusCode != want {
			t.Errorf("with %d redirects: status %d, want %d", redirects, resp.StatusCode, want)
		}
		_ = resp.Body.Close()
	}
	web.CheckSecrecy("https://example.com")
}

func TestKnownEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resp http.Response
		want bool
	}{
		{http.Response{ProtoMajor: 1, ContentLength: -1}, false},
		{http.Response{ProtoMajor: 1, ContentLength: 0}, true},
		{http.Response{ProtoMajor: 1, ContentLength: -1, TransferEncoding: []string{"chunked"}}, true},
		{http.Response{ProtoMajor: 2, ContentLength: -1}, true},
	} {
		if got := (&httpx.Response{Response: &test.resp}).HasKnownEnd(); got != test.want {
			t.Errorf("HasKnownEnd of %+v = %v, want %v", test.resp, got, test.want)
		}
	}
}

func TestLeast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		floor httpx.Floor
		want  int64
	}{
		{httpx.Floor{Window: 30 * time.Second}, 30 * httpx.DefaultRate},
		{httpx.Floor{PerSecond: 10, Window: time.Minute}, 600},
		{httpx.Floor{PerSecond: -1, Window: time.Minute}, 1},
		{httpx.Floor{PerSecond: 1, Window: time.Millisecond}, 1},
	} {
		if got := tt.floor.Least(); got != tt.want {
			t.Errorf("%+v: Least() = %d, want %d", tt.floor, got, tt.want)
		}
	}
}

// TestGuard has transfers that last an hour, with a number of bytes per second.
func TestGuard(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		floor, bytes int64
		ends         time.Duration // 0 means that the transfer is not ended
	}{
		{"nothing", 0, 0, 30 * time.Second},
		{"a drip of 1 KiB/s", 0, 1 << 10, time.Minute},
		{"a slow link", 0, httpx.DefaultRate + 200, 0},
		{"a floor of its own", 100, 90, time.Minute},
		{"above a floor of its own", 100, 110, 0},
		{"no floor", -1, 1, 0},
		{"nothing without a floor", -1, 0, 30 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, guard := httpx.Floor{PerSecond: tt.floor, Window: 30 * time.Second}.Watch(t.Context())
			defer guard.Stop()
			var ended time.Duration
			context.AfterFunc(ctx, func() { ended = time.Since(start) })
			for range 3600 {
				time.Sleep(time.Second) // on the test's clock
				guard.Add(int(tt.bytes))
			}
			synctest.Wait()
			if ended != tt.ends || errors.Is(guard.Err(), httpx.ErrStalled) != (tt.ends != 0) {
				t.Errorf("%s: ended after %v by %v, want %v", tt.name, ended, guard.Err(), tt.ends)
			}
		})
	}
}

func TestGuardPhases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, guard := httpx.Floor{Window: time.Minute}.Watch(t.Context())
		time.Sleep(50 * time.Second)
		guard.Add(1)
		time.Sleep(50 * time.Second)
		guard.Restart() // starts a new window
		time.Sleep(50 * time.Second)
		guard.Add(1)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Errorf("the transfer was ended: %v", context.Cause(ctx))
		}
		guard.Stop()
		guard.Restart()
		time.Sleep(time.Hour)
		if guard.Err() != nil || ctx.Err() == nil {
			t.Errorf("after Stop: %v, %v", guard.Err(), ctx.Err())
		}
	})
}
