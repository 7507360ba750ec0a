package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/spf13/cobra"
)

func lockCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "lock [DIR...]",
		Short: "resolve everything and write the lock, but install nothing",
		Long: "Selects versions as install does, and writes them to the lock. With --platform it also\n" +
			"adds the hashes of provider packages for other platforms; it does not fetch packages\n" +
			"whose hashes are known already. With --check it writes nothing, and the exit status is\n" +
			"1 if an entry would be added, removed or changed. Other hashes of the same provider\n" +
			"package are only a warning.\n" +
			"\n" +
			"With --offline it selects nothing. It puts back the entries that the lock has lost, from\n" +
			"the copy of the lock that the last installation kept in .terraform, or otherwise from the\n" +
			"last git commit. If the lock has no module entries at all, they are taken from the newest\n" +
			"commit whose lock has them. With --platform as well, it also adds hashes for which\n" +
			"nothing has to be asked.",
	}, runLock, configFlags(severalFlags(append(lockFlags(), pruneFlag(),
		toggle("check", "change nothing, and fail if the lock would change"),
		toggle("upgrade", "select the newest allowed versions, regardless of the lock"),
	)...)...))
}

var (
	errLockWouldChange = advice.Advised("the lock is not up to date with the configuration", "Run `cotter lock{dir}` on your machine and commit the lock.")
	errLostEntries     = advice.Advised("the lock has lost entries", "Run `cotter lock --offline{dir}` to put them back, and commit the lock.")
)

func runLock(ctx context.Context, cmd *invocation, out *output) error {
	req, err := newRequest(cmd, out.Env)
	if err != nil {
		return err
	}
	if cmd.Bool("offline") && !cmd.Bool("check") && !cmd.IsSet("platform") {
		return restore(ctx, cmd, out)
	}
	req.LockOnly, req.DryRun = true, cmd.Bool("check")
	req.Update.All = cmd.Bool("upgrade")
	return installProjects(ctx, cmd, out, req)
}

// selects are the flags that need a selection.
var selects = []string{"upgrade", "unify", "only", "prune-providers", "accept-unreachable"}

// restore is lock --offline.
func restore(ctx context.Context, cmd *invocation, out *output) error {
	for _, flag := range selects {
		if cmd.IsSet(flag) {
			return usageError{fmt.Errorf("--offline and --%s cannot be used together: lock --offline only puts back entries that the lock has lost", flag)}
		}
	}
	return forProjects(ctx, cmd, out, func(ctx context.Context, out *output, req request) error {
		restored, err := installerinternal.Restore(ctx, localInstaller(out), req.Project, nil)
		if err != nil {
			return err
		}
		if out.json {
			out.result(records.Restored{From: restored.From, Keys: records.KeysOf(restored.Modules), Providers: lists.Map(restored.Providers, addrs.Provider.String)})
			return nil
		}
		out.printf("Restored %s from %s.\n", bothEntries(len(restored.Modules), len(restored.Providers)), restored.From)
		return nil
	})
}

func bothEntries(modules, providers int) string {
	return view.Both(modules, entries(modules, "module"), providers, entries(providers, "provider"))
}

func entries(n int, of string) string {
	if n == 1 {
		return "1 " + of + " entry"
	}
	return fmt.Sprintf("%d %s entries", n, of)
}

// checkLock returns an error if the lock of a project would change, or a locked run would refuse a directory in
// it, for lock --check, and prints a warning if only hashes of providers would change. dir is "" if there is only
// one project.
func (o *output) checkLock(dir string, result *installer.Result) error {
	isMore := func(change installer.ProviderChange) bool { return !change.OnlyHashes() }
	switch {
	case len(result.Outside) > 0:
		return errors.Join(result.Outside...)
	case len(result.LockChanges) > 0 || slices.ContainsFunc(result.ProviderChanges, isMore):
		return errLockWouldChange
	case len(result.Restored) > 0:
		return errLostEntries
	case len(result.ProviderChanges) > 0:
		o.printWarning(dir, event.Warning{Message: fmt.Sprintf("%s selects the right versions, but it would get other hashes of %s", result.LockFile,
			view.Count(len(result.ProviderChanges), "provider"))})
	}
	return nil
}
