package retryafter_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cotterpin/cotter/internal/retryafter"
)

func TestAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its clock starts at midnight
		for header, want := range map[string]time.Duration{
			"0": 0, "1": time.Second, "86400": 24 * time.Hour,
			"99999999999":                   math.MaxInt64,
			"99999999999999999999999":       math.MaxInt64,
			"Sat, 01 Jan 2000 00:00:30 GMT": 30 * time.Second,
			"Fri, 31 Dec 1999 23:00:00 GMT": 0,
		} {
			if wait, asked := retryafter.Asked(header); wait != want || !asked {
				t.Errorf("Asked(%q) = %v, %v; want %v, true", header, wait, asked, want)
			}
		}
		for _, header := range []string{"", "-5", "1.5", "soon", "1, 2", "+1", "0x10"} {
			if wait, asked := retryafter.Asked(header); asked || wait != 0 {
				t.Errorf("Asked(%q) = %v, %v; want 0, false", header, wait, asked)
			}
		}
	})
}

// TestWait has one pause for each of two hosts.
func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hosts retryafter.Hosts
		hosts.Ask("a.example", 30*time.Second)
		hosts.Ask("a.example", 10*time.Second) // a shorter pause does not end a longer one
		hosts.Ask("b.example", 24*time.Hour)
		start := time.Now()
		for _, test := range []struct {
			host string
			at   time.Duration
		}{{"c.example", 0}, {"a.example", 30 * time.Second}, {"a.example", 30 * time.Second}, {"b.example", retryafter.Longest}} {
			if err := hosts.Wait(t.Context(), test.host); err != nil {
				t.Error(err)
			}
			if now := time.Since(start); now != test.at {
				t.Errorf("Wait for %s ended at %v, want %v", test.host, now, test.at)
			}
		}
	})
}

func TestWaitCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hosts retryafter.Hosts
		hosts.Ask("a.example", time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, h := range []*retryafter.Hosts{&hosts, &hosts, nil} {
			if err := h.Wait(ctx, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Wait = %v, want context.DeadlineExceeded", err)
			}
		}
	})
}

func FuzzAsked(f *testing.F) {
	for _, header := range []string{"1", "0", "-5", "99999999", "Sat, 01 Jan 2000 00:00:30 GMT", "soon", ""} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if wait, asked := retryafter.Asked(header); wait < 0 || !asked && wait != 0 {
			t.Errorf("Asked(%q) = %v, %v", header, wait, asked)
		}
	})
}
