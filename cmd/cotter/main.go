// Command cotter installs the modules and providers of an OpenTofu or Terraform
// configuration, locks the selected packages, and verifies them on every later run.
//
// The exit status is 0 for success, 1 for failure, 2 for a wrong command line, and 130
// if the command was interrupted. Once init has started tofu or terraform, it exits with
// the status of that tool. The exit status of verify is a sum:
//
//	 1  a package was changed, or modules.json points to other directories
//	 4  a locked package is not installed
//	 8  something could not be compared
//	16  the lock is stale: it does not fit the configuration, or --remote found
//	    that an origin has other content
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	collectLater()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once. This is safe: the files on disk are
	// consistent at any time.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}

// The exit statuses. The package comment documents them.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// The parts of the exit status of verify.
const (
	exitChanged      = 1
	exitMissing      = 4
	exitUnverifiable = 8
	exitStale        = 16
)

// statusError is an error with its own exit status.
type statusError struct {
	error
	status int
	// causes are errors that were printed earlier, as part of a report. Their remedies
	// are printed after this error.
	causes []error
}

func (e statusError) Unwrap() error { return e.error }

// usageError is a wrong command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitStatus(ctx context.Context, err error) int {
	var usage usageError
	var tool toolExit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &tool):
		return tool.status
	case errors.As(err, &usage):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return failureStatus(err)
}

// failureStatus returns the exit status for an error. The statuses of several projects
// are combined.
func failureStatus(err error) int {
	if parts := joined(err); parts != nil {
		status := 0
		for _, part := range parts {
			status |= failureStatus(part)
		}
		return status
	}
	var own statusError
	if errors.As(err, &own) {
		return own.status
	}
	return exitFailure
}
