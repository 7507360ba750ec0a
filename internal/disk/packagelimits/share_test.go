package packagelimits_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestShare(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var first, second packagelimits.Share
	for _, entries := range []int64{1, 30_000, 500_000} {
		testenv.Must(t, first.Grow(t.Context(), entries))
	}
	if err := second.Grow(ended, 20_000); err != nil {
		t.Errorf("Grow of a short list beside a long one = %v", err)
	}
	if err := second.Grow(ended, 30_000); !second.Waits(30_000) || !errors.Is(err, context.Canceled) {
		t.Errorf("Grow of a second long list = %v, want that it waits until the context is done", err)
	}
	first.Close()
	first.Close()
	testenv.Must(t, second.Grow(t.Context(), 30_000))
	second.Close()
}
