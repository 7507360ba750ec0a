package report_test

import (
	"fmt"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
)

func ExampleSection() {
	fmt.Print(report.Section(report.World{
		Name:  "archives",
		About: "40 calls of 40 archives",
		Rows: []report.Row{
			{State: "cold", Tool: "cotter install", Runs: 1, Median: 500 * time.Millisecond, Lowest: 500 * time.Millisecond, Highest: 500 * time.Millisecond, CPU: 200 * time.Millisecond, Requests: 40, Received: 700e3, Disk: 1e6, Cache: 2e6, Peak: 50 << 20},
			{State: "cold", Tool: "terraform get", Kind: report.Stock, Runs: 1, Median: 6 * time.Second, Lowest: 6 * time.Second, Highest: 6 * time.Second, CPU: time.Second, Requests: 80, Received: 700e3, Disk: 1e6, Peak: 70 << 20},
		},
		Goals: []report.Goal{report.Faster("cold", 8)},
	}))
	// Output:
	// ## archives
	//
	// 40 calls of 40 archives.
	//
	// | state | tool | time | ratio | CPU | requests | received | disk | cache | memory |
	// |---|---|---:|---:|---:|---:|---:|---:|---:|---:|
	// | cold | cotter install | 500 ms (500 ms to 500 ms) |  | 200 ms | 40 | 0.70 MB | 1.00 MB | 2.00 MB | 50 MiB |
	// | cold | terraform get | 6.00 s (6.00 s to 6.00 s) | 12.00 | 1.00 s | 80 | 0.70 MB | 1.00 MB |  | 70 MiB |
	//
	// - cold: at least 8 times faster than stock: **met** (12 times)
}
