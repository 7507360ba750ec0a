package main

import (
	"context"
	"errors"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

func lockCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "lock",
		Usage:     "resolve everything and write the lock, and install nothing",
		ArgsUsage: "[DIR...]",
		Description: "Selects versions as install does, and writes what it chose to the lock. With\n" +
			"--platform it adds the hashes of the providers' packages for other platforms; what\n" +
			"is known already is not fetched again. With --check it writes nothing, and the exit\n" +
			"status is 1 if the lock would change.",
		Flags: configFlags(severalFlags(append(lockFlags(),
			&cli.Flag{Name: "check", Usage: "change nothing, and fail if the lock would change"},
			&cli.Flag{Name: "upgrade", Usage: "select the newest allowed versions, whatever the lock says"},
		)...)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runLock(ctx, cmd, out)
		},
	}
}

// errLockWouldChange is the failure of lock --check.
var errLockWouldChange = errors.New("the lock is not up to date with the configuration")

func runLock(ctx context.Context, cmd *cli.Invocation, out *output) error {
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	req.LockOnly, req.DryRun = true, cmd.Bool("check")
	req.Update.All = cmd.Bool("upgrade")
	return installProjects(ctx, cmd, out, req)
}

// wouldChange reports whether the lock of a project is not what it has to be.
func wouldChange(result *cotter.Result) bool {
	return result != nil && len(result.LockChanges)+len(result.ProviderChanges) > 0
}
