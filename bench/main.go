// Command bench compares whole commands: cotter, and whichever stock binary is
// on the PATH, on the same configurations from the same servers. The servers
// are in this process and wait a set time before each answer, as those on the
// internet do.
//
//	go run ./bench                       print tables
//	go run ./bench -write                write docs/performance.md as well
//	go run ./bench -worlds registry,roots -delay 80ms -runs 3 -sample 10
//
// All worlds take about half an hour with one stock binary, of which the loop
// over 300 root modules is a third; -sample shortens that one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
)

// document is where -write writes.
const document = "docs/performance.md"

func main() {
	var opts options
	flag.DurationVar(&opts.delay, "delay", 80*time.Millisecond, "how long the servers wait before each answer")
	flag.IntVar(&opts.runs, "runs", 5, "how often each command runs; the median counts")
	flag.Func("worlds", "run only these worlds, as in registry,roots", func(s string) error {
		opts.worlds = strings.Split(s, ",")
		return nil
	})
	flag.IntVar(&opts.sample, "sample", 0, "loop the stock tools over this many of the root modules in the world roots, and multiply; 0 means over all, once")
	flag.BoolVar(&opts.write, "write", false, "write "+document)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, opts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	delay  time.Duration
	runs   int
	worlds []string // nil means all
	sample int
	write  bool
}

// arguments are those that measure the same again.
func (o options) arguments() string {
	args := []string{fmt.Sprintf("-write -delay %s -runs %d", o.delay, o.runs)}
	if o.worlds != nil {
		args = append(args, "-worlds", strings.Join(o.worlds, ","))
	}
	if o.sample > 0 {
		args = append(args, fmt.Sprintf("-sample %d", o.sample))
	}
	return strings.Join(args, " ")
}

// check finds what makes no sense before anything is measured.
func (o options) check(known []world) error {
	if o.runs < 1 || o.delay < 0 || o.sample < 0 || o.sample > manyRoots {
		return fmt.Errorf("-runs is at least 1, -delay at least 0, -sample from 0 to %d", manyRoots)
	}
	for _, name := range o.worlds {
		if !slices.ContainsFunc(known, func(w world) bool { return w.name == name }) {
			return fmt.Errorf("there is no world %q", name)
		}
	}
	return nil
}

func run(ctx context.Context, opts options) error {
	known := worlds()
	if err := opts.check(known); err != nil {
		return err
	}
	place, err := newWorkplace()
	if err != nil {
		return err
	}
	defer place.remove()
	tools, absent, err := findTools(ctx, place.dir)
	if err != nil {
		return err
	}
	doc := report.Document{Machine: thisMachine(ctx), Date: time.Now(), Delay: opts.delay, Absent: absent, Arguments: opts.arguments()}
	for _, t := range tools {
		doc.Tools = append(doc.Tools, report.Tool{Name: t.name, Version: t.version})
	}
	for _, w := range known {
		if opts.worlds != nil && !slices.Contains(opts.worlds, w.name) {
			doc.Left = append(doc.Left, w.name)
			continue
		}
		others := watchOthers()
		measured, err := measure(ctx, w, tools, place, opts)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		measured.Others = others()
		doc.Worlds = append(doc.Worlds, measured)
		fmt.Println(report.Section(measured))
	}
	doc.Machine.LoadAfter = loadAverage()
	if !opts.write {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(document), 0o755); err != nil {
		return err
	}
	return os.WriteFile(document, []byte(report.Markdown(doc)), 0o644)
}
