package view_test

import (
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/cli/view"
)

func TestSizesAndTimes(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9_949: "9.9 kB", 9_960: "10 kB", 999_499: "999 kB", 999_600: "1.0 MB", 151_000_000: "151 MB", 2_000_000_000_000: "2.0 TB"} {
		if got := view.Size(bytes); got != want {
			t.Errorf("size(%d) = %q, want %q", bytes, got, want)
		}
	}
	for d, want := range map[time.Duration]string{5 * time.Millisecond: "0.01 s", 830 * time.Millisecond: "0.83 s", 999 * time.Millisecond: "1.0 s", 9900 * time.Millisecond: "9.9 s", 42 * time.Second: "42 s", 125 * time.Second: "2 min 5 s"} {
		if got := view.Seconds(d); got != want {
			t.Errorf("seconds(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		word  string
		known []string
		want  string
	}{
		{"instal", []string{"install", "list", "lock"}, "Did you mean install?"},
		{"netwrok", []string{"network", "network.subnets"}, "Did you mean network?"},
		{"app.tag", []string{"app.tags", "app.bag", "dns"}, "Did you mean app.bag or app.tags?"},
		{"frobnicate", []string{"install"}, ""},
		{"x", nil, ""},
	} {
		if got := view.DidYouMean(view.Nearest(test.word, test.known)); got != test.want {
			t.Errorf("didYouMean(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}
