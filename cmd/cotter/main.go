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
	exitFound       = 3 // outdated and diff, with --exit-code
	exitInterrupted = 130
)

// exitOnly is an exit status whose reason was printed already.
type exitOnly struct{ status int }

func (e exitOnly) Error() string { return fmt.Sprintf("the exit status was %d", e.status) }

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitStatus(ctx context.Context, err error) int {
	only, isOnly := errors.AsType[exitOnly](err)
	switch {
	case err == nil:
		return 0
	case isOnly:
		return only.status
	case is[usageError](err):
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
