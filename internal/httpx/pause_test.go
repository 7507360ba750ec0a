package httpx_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cotterpin/cotter/internal/httpx"
)

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

// TestPauses has one pause for each of two pauses.
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

func TestPausesCancelled(t *testing.T) {
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
