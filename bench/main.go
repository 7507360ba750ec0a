// Command bench compares whole commands: cotter, and whichever stock binary is
// on the PATH, on the same configurations from the same servers. The servers
// are in this process and wait a set time before each answer, as those on the
// internet do.
//
//	go run ./bench                       print a table
//	go run ./bench -write docs/performance.md
//	go run ./bench -only registry -delay 80ms -runs 3
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	var opts options
	flag.DurationVar(&opts.delay, "delay", 80*time.Millisecond, "how long the servers wait before each answer")
	flag.IntVar(&opts.runs, "runs", 3, "how often each command runs; the median counts")
	flag.StringVar(&opts.only, "only", "", "run only the worlds whose name has this in it")
	flag.StringVar(&opts.write, "write", "", "write the report to this file as well")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, opts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	delay time.Duration
	runs  int
	only  string
	write string
}

func run(ctx context.Context, opts options) error {
	tools, cleanup, err := findTools(ctx)
	if err != nil {
		return err
	}
	defer cleanup()
	var rows []row
	for _, w := range worlds() {
		if !strings.Contains(w.name, opts.only) {
			continue
		}
		measured, err := measure(ctx, w, tools, opts)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		rows = append(rows, measured...)
		fmt.Print(table(measured))
	}
	if opts.write == "" {
		return nil
	}
	return os.WriteFile(opts.write, []byte(report(rows, tools, opts)), 0o644)
}
