package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
)

func row(state string, kind report.Kind, change func(*report.Row)) report.Row {
	r := report.Row{State: state, Kind: kind, Runs: 3, Median: time.Second}
	change(&r)
	return r
}

func taking(d time.Duration) func(*report.Row) { return func(r *report.Row) { r.Median = d } }

func TestGoals(t *testing.T) {
	t.Parallel()
	ours := func(change func(*report.Row)) report.Row { return row("cold", report.Ours, change) }
	stock := func(change func(*report.Row)) report.Row { return row("cold", report.Stock, change) }
	tofu := func(change func(*report.Row)) report.Row {
		return row("cold", report.Stock, func(r *report.Row) { r.Tool = "tofu init"; change(r) })
	}
	base := func(change func(*report.Row)) report.Row { return row("cold", report.Baseline, change) }
	requests := func(all, discovery, repeats int) func(*report.Row) {
		return func(r *report.Row) { r.Requests, r.Discovery, r.Repeats = all, discovery, repeats }
	}
	disk := func(disk, cache int64) func(*report.Row) {
		return func(r *report.Row) { r.Disk, r.Cache = disk, cache }
	}
	peak := func(n int64) func(*report.Row) { return func(r *report.Row) { r.Peak = n } }
	received := func(n int64) func(*report.Row) { return func(r *report.Row) { r.Received = n } }
	const second = time.Second
	tests := map[string]struct {
		goal     report.Goal
		rows     []report.Row
		measured string
		met      bool
	}{
		"faster":                  {report.Faster("cold", 8), []report.Row{ours(taking(second)), stock(taking(8 * second))}, "8 times", true},
		"not fast enough":         {report.Faster("cold", 8), []report.Row{ours(taking(second)), stock(taking(7 * second))}, "7 times", false},
		"the faster one counts":   {report.Faster("cold", 8), []report.Row{stock(taking(9 * second)), ours(taking(second)), stock(taking(7 * second))}, "7 times", false},
		"no stock tool":           {report.Faster("cold", 8), []report.Row{ours(taking(second)), base(taking(9 * second))}, "", false},
		"another state":           {report.Faster("again", 8), []report.Row{ours(taking(second)), stock(taking(9 * second))}, "", false},
		"faster than one tool":    {report.FasterThan("cold", "tofu", 8), []report.Row{ours(taking(second)), tofu(taking(8 * second)), stock(taking(7 * second))}, "8 times", true},
		"not than that tool":      {report.FasterThan("cold", "tofu", 8), []report.Row{ours(taking(second)), tofu(taking(7 * second)), stock(taking(9 * second))}, "7 times", false},
		"that tool is not there":  {report.FasterThan("cold", "tofu", 8), []report.Row{ours(taking(second)), stock(taking(9 * second))}, "", false},
		"no longer":               {report.NoLongerThan("cold", "one", 1.3), []report.Row{row("one", report.Ours, taking(10*second)), ours(taking(13 * second))}, "1.3 times", true},
		"longer":                  {report.NoLongerThan("cold", "one", 1.3), []report.Row{row("one", report.Ours, taking(10*second)), ours(taking(14 * second))}, "1.4 times", false},
		"received":                {report.ReceivedBelow("cold", 1), []report.Row{ours(received(1e6)), stock(received(9e6))}, "1 MB", true},
		"received too much":       {report.ReceivedBelow("cold", 1), []report.Row{ours(received(2e6))}, "2 MB", false},
		"the project's disk":      {report.DiskBelow("cold", 1), []report.Row{ours(disk(1e6, 9e6))}, "1 MB", true},
		"the project's disk, all": {report.DiskBelow("cold", 1), []report.Row{ours(disk(2e6, 0))}, "2 MB", false},
		"no request":              {report.NoRequest("cold"), []report.Row{ours(requests(0, 0, 0)), stock(requests(9, 0, 0))}, "0 requests", true},
		"a request":               {report.NoRequest("cold"), []report.Row{ours(requests(1, 1, 1))}, "1 requests", false},
		"requests per package":    {report.RequestsPerPackage("cold", 20, 3), []report.Row{ours(requests(61, 1, 1))}, "60 requests", true},
		"too many requests":       {report.RequestsPerPackage("cold", 20, 3), []report.Row{ours(requests(62, 1, 1))}, "61 requests", false},
		"fetched once":            {report.FetchedOnce("cold"), []report.Row{ours(requests(5, 1, 1))}, "1 times", true},
		"fetched twice":           {report.FetchedOnce("cold"), []report.Row{ours(requests(5, 1, 2))}, "2 times", false},
		"disk":                    {report.DiskShare("cold", 4), []report.Row{ours(disk(2, 2)), stock(disk(100, 0))}, "4 %", true},
		"disk with the cache":     {report.DiskShare("cold", 4), []report.Row{ours(disk(2, 3)), stock(disk(100, 0))}, "5 %", false},
		"disk, nothing to see":    {report.DiskShare("cold", 4), []report.Row{ours(disk(2, 3))}, "", false},
		"near":                    {report.NearBaseline("cold", "hashing", 3), []report.Row{ours(taking(2 * second)), base(taking(second))}, "2 times", true},
		"not near":                {report.NearBaseline("cold", "hashing", 3), []report.Row{ours(taking(4 * second)), base(taking(second))}, "4 times", false},
		"no baseline":             {report.NearBaseline("cold", "hashing", 3), []report.Row{ours(taking(second)), stock(taking(second))}, "", false},
		"the first baseline":      {report.NearBaseline("cold", "hashing", 3), []report.Row{ours(taking(second)), base(taking(second)), base(taking(9 * second))}, "1 times", true},
		"memory":                  {report.MemoryBelow("cold", 256), []report.Row{ours(peak(255 << 20))}, "255 MiB", true},
		"too much memory":         {report.MemoryBelow("cold", 256), []report.Row{ours(peak(257 << 20))}, "257 MiB", false},
		"memory not known":        {report.MemoryBelow("cold", 256), []report.Row{ours(peak(0))}, "", false},
		"linear":                  {report.Linear("few", "cold"), []report.Row{row("few", report.Ours, taking(second)), ours(taking(10 * second))}, "10 times", true},
		"not linear":              {report.Linear("few", "cold"), []report.Row{row("few", report.Ours, taking(second)), ours(taking(11 * second))}, "11 times", false},
		"linear, but one is gone": {report.Linear("few", "cold"), []report.Row{ours(taking(second))}, "", false},
		"spared":                  {report.Spared("cold", 6e6), []report.Row{ours(received(1e6)), base(received(7e6))}, "6 MB", true},
		"not spared":              {report.Spared("cold", 6e6), []report.Row{ours(received(2e6)), base(received(7e6))}, "5 MB", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			measured, met := tt.goal.Check(tt.rows)
			if measured != tt.measured || met != tt.met {
				t.Errorf("%q: %q, %v; want %q, %v", tt.goal.Text, measured, met, tt.measured, tt.met)
			}
		})
	}
}

func TestGoalsOfNothing(t *testing.T) {
	t.Parallel()
	w := report.World{Goals: []report.Goal{
		report.Faster("cold", 8), report.NoRequest("cold"), report.FetchedOnce("cold"), report.RequestsPerPackage("cold", 1, 1),
		report.DiskShare("cold", 4), report.NearBaseline("cold", "hashing", 3), report.MemoryBelow("cold", 256), report.Linear("a", "b"), report.Spared("cold", 1),
	}}
	if got := strings.Count(report.Section(w), "**not compared** (nothing to compare with in this run)"); got != len(w.Goals) {
		t.Errorf("%d of %d goals are not compared:\n%s", got, len(w.Goals), report.Section(w))
	}
}
