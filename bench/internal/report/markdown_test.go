package report_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/bench/internal/report"
)

// madeUp is a document whose measurements nobody made.
func madeUp() report.Document {
	const ms = time.Millisecond
	return report.Document{
		Machine: report.Machine{
			CPU: "Example CPU | 3 GHz", Cores: 4, Memory: 8 << 30, System: "linux/amd64, Example Linux 1, kernel 6.1.0",
			Go: "go1.26.8", Git: "2.39.5", LoadBefore: 0.25, LoadAfter: 1.5,
		},
		Date:      time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC),
		Delay:     80 * ms,
		Tools:     []report.Tool{{Name: "cotter install", Version: "built for this measurement"}, {Name: "terraform get", Version: "Terraform v1.11.4"}},
		Absent:    []string{"tofu get"},
		Left:      []string{"monorepo", "oci"},
		Arguments: "-write -runs 3 -worlds registry,roots,graph",
		Worlds: []report.World{
			{
				Name: "registry", About: "40 registry calls",
				Rows: []report.Row{
					{State: "cold", Tool: "cotter install", Runs: 3, Median: 633 * ms, Lowest: 620 * ms, Highest: 1010 * ms, CPU: 165 * ms, Requests: 61, Discovery: 1, Repeats: 1, Received: 345678, Disk: 1234567, Cache: 12345678, Peak: 54 << 20},
					{State: "cold", Tool: "terraform get", Kind: report.Stock, Runs: 3, Median: 10494 * ms, Lowest: 10400 * ms, Highest: 10600 * ms, CPU: 1897 * ms, Requests: 101, Disk: 2e6, Peak: 66 << 20},
					{State: "again", Tool: "cotter install", Runs: 3, Median: 38 * ms, Lowest: 33 * ms, Highest: 40 * ms},
					{State: "again", Tool: "terraform get", Kind: report.Stock, Runs: 3, Median: 37 * ms, Lowest: 37 * ms, Highest: 37 * ms},
				},
				Goals: []report.Goal{report.Faster("cold", 8), report.RequestsPerPackage("cold", 20, 3), report.Faster("again", 1), report.NoRequest("again")},
			},
			{
				Name: "roots", About: "300 root modules", Notes: []string{"One command for all of them."},
				Rows: []report.Row{
					{State: "cold", Tool: "cotter install", Runs: 3, Median: 2 * time.Second, Lowest: 2 * time.Second, Highest: 3 * time.Second, Requests: 121, Repeats: 1},
					{State: "cold", Tool: "terraform get", Kind: report.Stock, Runs: 3, Median: 720 * time.Second, Lowest: 700 * time.Second, Highest: 800 * time.Second, Sample: 10, Whole: 300},
				},
				Goals: []report.Goal{report.Faster("cold", 60), report.FetchedOnce("cold")},
			},
			{
				Name: "graph", About: "10,000 calls", Others: -1,
				Rows: []report.Row{
					{State: "again", Tool: "cotter install", Runs: 1, Median: 900 * ms, Peak: 300 << 20},
					{State: "again", Tool: "reading and hashing the files", Kind: report.Baseline, Runs: 1, Median: 500 * ms},
				},
				Goals: []report.Goal{report.Faster("again", 1), report.NearBaseline("again", 3), report.MemoryBelow("again", 256)},
			},
		},
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/made-up.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), report.Markdown(madeUp())); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
}

// What the system does not tell is left out, not invented.
func TestMarkdownOfAnUnknownMachine(t *testing.T) {
	t.Parallel()
	d := madeUp()
	d.Machine = report.Machine{CPU: "unknown", Cores: 2, System: "plan9/arm", Go: "go1.26.8", LoadBefore: -1, LoadAfter: -1}
	d.Left = nil
	got := report.Markdown(d)
	for _, absent := range []string{"| memory | 0", "load average", "| git |", "Not measured"} {
		if strings.Contains(got, absent) {
			t.Errorf("Markdown has %q:\n%s", absent, got)
		}
	}
}
