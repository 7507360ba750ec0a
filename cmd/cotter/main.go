// Command cotter installs the modules of an OpenTofu or Terraform
// configuration, locks what it chose, and verifies it on every later run.
//
// Exit status: 0 for success, 1 for failure, 2 for a wrong command line, 130
// when it was interrupted. That of init is the status of tofu or terraform, once that
// was started. That of verify is a sum:
//
//	 1  a package was changed, or modules.json leads elsewhere
//	 4  a package of the lock is not installed
//	 8  something could not be compared
//	16  the lock is stale: it does not fit the configuration, or with --remote
//	    an origin leads elsewhere
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
	// A second signal ends the process at once: what is on disk is safe at any
	// time.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}

// The exit statuses, as the package comment documents them.
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

// statusError is an error with an exit status of its own.
type statusError struct {
	error
	status int
	// causes were printed already, as part of a report. What can be done about them
	// stands behind the error.
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

// failureStatus returns the exit status of an error. That of several projects is the
// sum of theirs.
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
