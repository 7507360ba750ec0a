package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/cli/view"
)

// sampleLines returns the live lines of a run 4.2 seconds after its start.
func sampleLines(width, height int) []string {
	started := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	now := started.Add(4200 * time.Millisecond)
	return view.LiveLines(started, 3, 7, []view.Sample{
		{Name: "git::https://github.com/terraform-aws-modules/terraform-aws-vpc.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0", Phase: view.Fetching, Done: 340_000, Rate: 812_000, Since: now},
		{Name: "https://example.com/archives/logs.zip", Phase: view.Fetching, Done: 45_000_000, Total: 100_000_000, Rate: 9_400_000, Since: now},
		{Name: "provider hashicorp/aws 5.80.0", Phase: view.Unpacking, Done: 151_000_000, Total: 151_000_000, Since: now},
		{Name: "oci://ghcr.io/acme/modules/net?digest=sha256:00", Phase: view.Waiting, Since: now},
	}, width, height, now)
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
		lines := sampleLines(test.width, 24)
		for _, line := range lines {
			if n := view.ColumnsOf(line); n >= test.width {
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
	for height, want := range map[int]int{24: 5, 6: 5, 5: 4, 3: 2, 1: 2} {
		lines := sampleLines(80, height)
		if len(lines) != want {
			t.Errorf("%d lines in a terminal of %d, want %d:\n%s", len(lines), height, want, strings.Join(lines, "\n"))
		}
	}
}

func TestViewSummary(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	got := view.LiveLines(started, 0, 1, nil, 80, 24, started.Add(300*time.Millisecond))
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
		{"漢字漢字漢字", 7, "漢…漢字"},
		{"x", 0, "…"},
	} {
		if got := view.Shorten(test.text, test.width); got != test.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

// TestTransferRate checks that the rate is measured over the last second, not over the whole
// transfer.
func TestTransferRate(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	done := map[time.Time]int64{}
	for i := range 11 {
		done[at.Add(time.Duration(i)*100*time.Millisecond)] = int64(i) * 100_000
	}
	after := []time.Time{at.Add(1100 * time.Millisecond), at.Add(11 * time.Second)}
	if diff := cmp.Diff([]string{"1.0 MB/s", "0 B/s"}, view.Rates(done, at, after...)); diff != "" {
		t.Errorf("after a second, and after ten seconds without any byte (-want +got):\n%s", diff)
	}
}
