package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cotterpin/cotter/internal/httpapi"
)

// slow is a body with some bytes every so often, and without an end. It ends
// with the request, as the bodies of net/http do.
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

func TestDownloadsAreWatched(t *testing.T) {
	t.Parallel()
	tests := []struct {
		every, ends time.Duration
		bytes       int
		minRate     int64
		want        error
	}{
		{2 * time.Minute, time.Minute, 1, 0, httpapi.ErrStalled},
		{50 * time.Second, 2 * time.Minute, 1, 0, httpapi.ErrStalled},
		{time.Second, 2 * time.Minute, 1 << 10, 0, httpapi.ErrStalled},
		{time.Second, time.Hour, 5 << 10, 0, httpapi.ErrTooSlow},
		{time.Second, time.Hour, 1 << 10, 1000, httpapi.ErrTooSlow},
		{50 * time.Second, time.Hour, 1, -1, httpapi.ErrTooSlow},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			transport := roundTrip(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, ProtoMajor: 2, ContentLength: -1, Request: req,
					Header: http.Header{}, Body: slow{req.Context(), test.every, test.bytes}}, nil
			})
			// The timeout of the client is not meant for downloads.
			c := httpapi.Client{HTTPClient: &http.Client{Transport: transport, Timeout: time.Second}, MinRate: test.minRate}
			start := time.Now()
			_, stream, err := c.Open(get(t, "https://example.com/"))
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			if _, err = io.Copy(io.Discard, stream); !errors.Is(err, test.want) {
				t.Errorf("%d bytes every %v: %v, want %v", test.bytes, test.every, err, test.want)
			}
			if got := time.Since(start); got != test.ends {
				t.Errorf("%d bytes every %v: ended after %v, want %v", test.bytes, test.every, got, test.ends)
			}
		})
	}
}

func TestServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := roundTrip(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		c := httpapi.Client{HTTPClient: &http.Client{Transport: transport}}
		start := time.Now()
		if _, _, err := c.Open(get(t, "https://example.com/")); !errors.Is(err, httpapi.ErrStalled) {
			t.Errorf("Open = %v, want ErrStalled", err)
		}
		if got := time.Since(start); got != time.Minute {
			t.Errorf("Open ended after %v, want 1m", got)
		}
	})
}

func TestOpenOtherAnswers(t *testing.T) {
	t.Parallel()
	s := &script{steps: []step{{status: 503}, {status: 404, body: strings.NewReader("gone")}}}
	c := httpapi.Client{HTTPClient: &http.Client{Transport: s}, RetryWait: time.Nanosecond}
	answer, stream, err := c.Open(get(t, "https://example.com/"))
	if err != nil || stream != nil || answer.StatusCode != 404 || string(answer.Body) != "gone" || answer.Attempts != 2 {
		t.Errorf("Open = %+v, %v, %v", answer, stream, err)
	}
}

func TestOpenWantsAnEnd(t *testing.T) {
	t.Parallel()
	s := &script{steps: []step{{status: 200, body: strings.NewReader("until the connection closes")}}}
	c := httpapi.Client{HTTPClient: &http.Client{Transport: s}}
	if _, _, err := c.Open(get(t, "https://example.com/")); !errors.Is(err, httpapi.ErrNoLength) {
		t.Errorf("Open = %v, want ErrNoLength", err)
	}
	if len(s.at) != 1 {
		t.Errorf("%d requests, want 1", len(s.at))
	}
}
