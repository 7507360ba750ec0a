// Command bench compares whole commands: cotter, and each stock binary in PATH. All of them
// get the same configurations and the same servers. The servers run in this process and wait
// before each answer, like servers on the internet. The output is the content of
// bench/measurements.md: for each world, a table and the goals.
//
//	go run ./bench
//	go run ./bench -worlds registry,roots -runs 1
//
// With one stock binary, all worlds take about half an hour.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
)

// delay is the time before each answer.
const delay = 80 * time.Millisecond

func main() {
	runs := flag.Int("runs", 3, "run each command this many times, at least once, and report the median")
	names := flag.String("worlds", "", "measure only these worlds, such as registry,roots")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *names, max(1, *runs)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names string, runs int) error {
	chosen, err := choose(worlds(), names)
	if err != nil {
		return err
	}
	place, err := newWorkplace()
	if err != nil {
		return err
	}
	defer place.remove()
	tools, err := findTools(ctx, place.dir)
	if err != nil {
		return err
	}
	for _, t := range tools {
		fmt.Printf("%s: %s\n", t.name, t.version)
	}
	for _, w := range chosen {
		measured, err := measure(ctx, w, tools, place, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Printf("\n%s", report.Section(measured))
	}
	return nil
}

// choose returns the worlds with these names, separated by commas; "" means all.
func choose(all []world, names string) ([]world, error) {
	if names == "" {
		return all, nil
	}
	var chosen []world
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(w world) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no world has the name %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
