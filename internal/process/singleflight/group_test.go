package singleflight_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cotterpin/cotter/internal/process/singleflight"
)

func TestSharesOneRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g singleflight.Group[string, int]
		runs := 0
		release := make(chan struct{})
		work := func(context.Context) (int, error) {
			runs++
			<-release
			return 7, nil
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if v, err := g.Do(t.Context(), "k", work); v != 7 || err != nil {
					t.Errorf("Do(k) = %v, %v, want 7, nil", v, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		if _, err := g.Do(t.Context(), "k", work); err != nil {
			t.Error(err)
		}
		if runs != 1 {
			t.Errorf("the work ran %d times, want 1", runs)
		}
	})
}

func TestCancelledCallerLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g singleflight.Group[string, int]
		release := make(chan struct{})
		work := func(ctx context.Context) (int, error) {
			select {
			case <-release:
				return 7, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		first, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := g.Do(first, "k", work); !errors.Is(err, context.Canceled) {
				t.Errorf("Do of the canceled caller = %v, want context.Canceled", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if v, err := g.Do(t.Context(), "k", work); v != 7 || err != nil {
				t.Errorf("Do of the patient caller = %v, %v, want 7, nil", v, err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(release)
		wg.Wait()
	})
}

func TestLastCallerCancelsTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g singleflight.Group[string, int]
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, _ = g.Do(ctx, "k", func(ctx context.Context) (int, error) {
				<-ctx.Done()
				ended <- ctx.Err()
				return 0, ctx.Err()
			})
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the work saw %v, want context.Canceled", err)
		}
		// A later caller must not get the cancellation.
		v, err := g.Do(t.Context(), "k", func(context.Context) (int, error) { return 3, nil })
		if v != 3 || err != nil {
			t.Errorf("Do afterwards = %v, %v, want 3, nil", v, err)
		}
	})
}

func TestFailuresAreNotKept(t *testing.T) {
	t.Parallel()
	var g singleflight.Group[string, int]
	failure := errors.New("once")
	if _, err := g.Do(t.Context(), "k", func(context.Context) (int, error) { return 0, failure }); !errors.Is(err, failure) {
		t.Errorf("first Do = %v, want %v", err, failure)
	}
	if v, err := g.Do(t.Context(), "k", func(context.Context) (int, error) { return 1, nil }); v != 1 || err != nil {
		t.Errorf("second Do = %v, %v, want 1, nil", v, err)
	}
}

func TestCancelledBeforehand(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var g singleflight.Group[string, int]
	_, err := g.Do(ctx, "k", func(context.Context) (int, error) {
		t.Error("the work ran")
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Do = %v, want context.Canceled", err)
	}
}

// The last caller returns when the canceled work has ended, so that nothing goes on behind its back.
func TestLastWaitsForCancelledWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m singleflight.Memo[string, int]
		release := make(chan struct{})
		ended := false
		work := func(context.Context) (int, error) {
			<-release // the function does not stop at once
			ended = true
			return 0, nil
		}
		others, cancelOthers := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() {
			if _, err := m.Do(others, "k", work); !errors.Is(err, context.Canceled) || ended {
				t.Errorf("Do = %v, want context.Canceled while the work runs", err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		var last sync.WaitGroup
		last.Go(func() {
			if _, err := m.Do(ctx, "k", work); !errors.Is(err, context.Canceled) || !ended {
				t.Errorf("Do = %v, want context.Canceled after the work", err)
			}
		})
		synctest.Wait()
		cancelOthers()
		first.Wait()
		cancel()
		synctest.Wait()
		close(release)
		last.Wait()
	})
}

// Known returns what has ended, and waits for nothing.
func TestKnown(t *testing.T) {
	t.Parallel()
	var memo singleflight.Memo[string, int]
	failed := errors.New("failed")
	if _, ok, err := memo.Known("a"); ok || err != nil {
		t.Errorf("before work: %t, %v", ok, err)
	}
	started, end := make(chan struct{}), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = memo.Do(t.Context(), "a", func(context.Context) (int, error) {
			close(started)
			<-end
			return 1, nil
		})
	}()
	<-started
	if _, ok, err := memo.Known("a"); ok || err != nil {
		t.Errorf("during work: %t, %v", ok, err)
	}
	close(end)
	<-done
	if got, ok, err := memo.Known("a"); got != 1 || !ok || err != nil {
		t.Errorf("after work: %d, %t, %v", got, ok, err)
	}
	_, _ = memo.Do(t.Context(), "b", func(context.Context) (int, error) { return 0, failed })
	if _, ok, err := memo.Known("b"); !ok || !errors.Is(err, failed) {
		t.Errorf("after failed work: %t, %v", ok, err)
	}
}
