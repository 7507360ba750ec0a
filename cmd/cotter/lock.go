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
		Usage:     "resolve everything and write the lock, but install nothing",
		ArgsUsage: "[DIR...]",
		Description: "Selects versions as install does, and writes them to the lock. With --platform it also\n" +
			"adds the hashes of provider packages for other platforms; it does not fetch packages\n" +
			"whose hashes are known already. With --check it writes nothing, and the exit status is\n" +
			"1 if the lock would change.",
		Flags: configFlags(severalFlags(append(lockFlags(),
			&cli.Flag{Name: "check", Usage: "change nothing, and fail if the lock would change"},
			&cli.Flag{Name: "upgrade", Usage: "select the newest allowed versions, regardless of the lock"},
		)...)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runLock(ctx, cmd, out)
		},
	}
}

// errLockWouldChange is the error of lock --check for a lock that would change.
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

// wouldChange reports whether an installation changes, or would change, the lock.
func wouldChange(result *cotter.Result) bool {
	return result != nil && len(result.LockChanges)+len(result.ProviderChanges)+len(result.Restored) > 0
}
