package httpx_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cotterpin/cotter/internal/httpx"
)

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
