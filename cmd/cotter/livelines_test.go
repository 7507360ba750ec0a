package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sampleView returns the view of a run 4.2 seconds after its start.
func sampleView() (*view, time.Time) {
	started := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	now := started.Add(4200 * time.Millisecond)
	return &view{started: started, fetched: 3, resolved: 7, active: []*transfer{
		{name: "git::https://github.com/terraform-aws-modules/terraform-aws-vpc.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0", phase: fetching, done: 340_000, rate: 812_000, since: now},
		{name: "https://example.com/archives/logs.zip", phase: fetching, done: 45_000_000, total: 100_000_000, rate: 9_400_000, since: now},
		{name: "provider hashicorp/aws 5.80.0", phase: unpacking, done: 151_000_000, total: 151_000_000, since: now},
		{name: "oci://ghcr.io/acme/modules/net?digest=sha256:00", phase: waiting, since: now},
	}}, now
}

// TestViewLines checks the live lines at various widths: unknown totals are left out, and
// names are shortened so that every line fits the width.
func TestViewLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		width int
		want  string
	}{
		{40, `
githu…aws-vpc.git 340 kB fetch 812 kB/s
examp…es/logs.zip  45 MB fetch 9.4 MB/s
provi…/aws 5.80.0 151 MB      unpacking
ghcr.…modules/net    0 B        waiting
3 fetched, 4 in progress, 4.2 s
`},
		{60, `
github.com…terraform-aws-vpc.git 340 kB      fetch 812 kB/s
example.com/archives/logs.zip     45 MB  45% fetch 9.4 MB/s
provider hashicorp/aws 5.80.0    151 MB 100%      unpacking
ghcr.io/acme/modules/net            0 B             waiting
3 fetched, 4 in progress, 4.2 s
`},
		{80, `
github.com/te…dules/terraform-aws-vpc.git           340 kB  812 kB/s  fetching
example.com/archives/logs.zip              45 MB of 100 MB  9.4 MB/s  fetching
provider hashicorp/aws 5.80.0             151 MB of 151 MB            unpacking
ghcr.io/acme/modules/net                               0 B            waiting
3 fetched, 4 in progress, 4.2 s
`},
		{120, `
github.com/terraform-aws-modules/terraform-aws-vpc.git                                      340 kB  812 kB/s  fetching
example.com/archives/logs.zip                               #########-----------   45 MB of 100 MB  9.4 MB/s  fetching
provider hashicorp/aws 5.80.0                               ####################  151 MB of 151 MB            unpacking
ghcr.io/acme/modules/net                                                                       0 B            waiting
3 fetched, 4 in progress, 4.2 s
`},
	} {
		view, now := sampleView()
		lines := view.lines(test.width, 24, now)
		for _, line := range lines {
			if n := columnsOf(line); n >= test.width {
				t.Errorf("at %d columns, a line has %d: %q", test.width, n, line)
			}
		}
		var got strings.Builder
		got.WriteString("\n")
		for _, line := range lines {
			got.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		if diff := cmp.Diff(test.want, got.String()); diff != "" {
			t.Errorf("at %d columns (-want +got):\n%s", test.width, diff)
		}
	}
}

// TestViewHeight checks that a terminal with few lines shows few packages, and the number of
// the others.
func TestViewHeight(t *testing.T) {
	t.Parallel()
	view, now := sampleView()
	for height, want := range map[int]int{24: 5, 6: 5, 5: 4, 3: 2, 1: 2} {
		lines := view.lines(80, height, now)
		if len(lines) != want {
			t.Errorf("%d lines in a terminal of %d, want %d:\n%s", len(lines), height, want, strings.Join(lines, "\n"))
		}
	}
}

func TestViewSummary(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	got := (&view{started: started, resolved: 1}).lines(80, 24, started.Add(300*time.Millisecond))
	if diff := cmp.Diff([]string{"Resolving: 1 module, 0.30 s"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"example.com/archives/logs.zip", 12, "exa…logs.zip"},
		{"wörter", 4, "w…er"},
		{"漢字漢字漢字", 7, "漢字…字"},
		{"x", 0, "…"},
	} {
		if got := shorten(test.text, test.width); got != test.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

func TestSizesAndTimes(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9_949: "9.9 kB", 9_960: "10 kB", 999_499: "999 kB", 999_600: "1.0 MB", 151_000_000: "151 MB", 2_000_000_000_000: "2.0 TB"} {
		if got := size(bytes); got != want {
			t.Errorf("size(%d) = %q, want %q", bytes, got, want)
		}
	}
	for d, want := range map[time.Duration]string{5 * time.Millisecond: "0.01 s", 830 * time.Millisecond: "0.83 s", 999 * time.Millisecond: "1.0 s", 9900 * time.Millisecond: "9.9 s", 42 * time.Second: "42 s", 125 * time.Second: "2 min 5 s"} {
		if got := seconds(d); got != want {
			t.Errorf("seconds(%v) = %q, want %q", d, got, want)
		}
	}
}

// TestTransferRate checks that the rate is measured over the last second, not over the whole
// transfer.
func TestTransferRate(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	transfer := &transfer{name: "x", phase: fetching, since: at}
	for i := range 11 {
		transfer.progress(fetching, int64(i)*100_000, 0, at.Add(time.Duration(i)*100*time.Millisecond))
	}
	if got := transfer.rateText(at.Add(1100 * time.Millisecond)); got != "1.0 MB/s" {
		t.Errorf("after a second: %q", got)
	}
	if got := transfer.rateText(at.Add(11 * time.Second)); got != "0 B/s" {
		t.Errorf("after ten seconds without any byte: %q", got)
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
		if got := didYouMean(nearest(test.word, test.known)); got != test.want {
			t.Errorf("didYouMean(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}
