package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/event"
)

func lockCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "lock",
		Usage:     "resolve everything and write the lock, but install nothing",
		ArgsUsage: "[DIR...]",
		Description: "Selects versions as install does, and writes them to the lock. With --platform it also\n" +
			"adds the hashes of provider packages for other platforms; it does not fetch packages\n" +
			"whose hashes are known already. With --check it writes nothing, and the exit status is\n" +
			"1 if an entry would be added, removed or changed. Other hashes of the same provider\n" +
			"package are only a warning.",
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

// checkLock returns an error if the lock of a project in dir would change, for lock --check. dir
// is "" if there is only one project. If only hashes of providers would change, it prints a
// warning.
func (o *output) checkLock(dir string, result *cotter.Result) error {
	switch {
	case !wouldChange(result):
		return nil
	case len(result.LockChanges)+len(result.Restored) > 0 || !allOnlyHashes(result.ProviderChanges):
		return errLockWouldChange
	}
	o.printWarning(dir, event.Warning{Message: fmt.Sprintf("%s selects the right versions, but it would get other hashes of %s", result.LockFile,
		count(len(result.ProviderChanges), "provider"))})
	return nil
}

func allOnlyHashes(changes []cotter.ProviderChange) bool {
	return !slices.ContainsFunc(changes, func(change cotter.ProviderChange) bool { return !change.OnlyHashes() })
}

// wouldChange reports whether an installation changes, or would change, the lock.
func wouldChange(result *cotter.Result) bool {
	return result != nil && len(result.LockChanges)+len(result.ProviderChanges)+len(result.Restored) > 0
}
