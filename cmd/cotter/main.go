package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/spf13/cobra"
)

func main() {
	collectLater()
	cobra.EnableCommandSorting = false // help lists the commands in the order of newApp
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once. The files on disk are consistent at any time.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}

const (
	exitFailure     = 1
	exitUsage       = 2
	exitFound       = 3 // errFound
	exitInterrupted = 130
)

// errFound ends outdated and diff with --exit-code if there is something to list. It is no failure.
var errFound = errors.New("there is something to list")

// isFailure reports whether a run that has ended with err has failed.
func isFailure(err error) bool { return err != nil && !errors.Is(err, errFound) }

// exitOnly is the exit status of a program, whose output says why.
type exitOnly struct {
	program string
	status  int
}

func (e exitOnly) Error() string {
	return fmt.Sprintf("%s has ended with the exit status %d", e.program, e.status)
}

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitStatus(ctx context.Context, err error) int {
	only, isOnly := errors.AsType[exitOnly](err)
	switch {
	case err == nil:
		return 0
	case !isFailure(err):
		return exitFound
	case isOnly:
		return only.status
	case advice.Is[usageError](err):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFailure
}

// growth is the GC percentage (see [debug.SetGCPercent]) after the first collection; 0 is the default.
var growth atomic.Int32

// collectLater delays the first garbage collection from a heap of 4 MiB to one of 32 MiB, unless GOGC is set.
// Most runs end before that, and use most of their memory until they end.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	asEver := debug.SetGCPercent(800)
	collected := new([16]byte)
	runtime.AddCleanup(collected, func(percent int32) {
		if more := growth.Load(); more > 0 {
			percent = more
		}
		debug.SetGCPercent(int(percent))
	}, int32(asEver))
}

// collectSeldom is for runs on many projects, which need little memory for longer, and would spend a fifth of
// their time on garbage collection.
func collectSeldom() { growth.Store(300) }
