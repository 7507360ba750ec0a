package main

import (
	"context"
	"fmt"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/spf13/cobra"
)

func installCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "install [DIR...]",
		Short: "install all modules and providers, and write the lock",
		Long: "Installs the modules and providers of the configuration in the current directory. It\n" +
			"places them under .terraform, where tofu and terraform find them, and records the\n" +
			"selected versions in the lock file. Locked versions are kept as long as they fit the\n" +
			"constraints.\n" +
			"\n" +
			"If directories are given, it installs each of them; with --recursive, all root modules\n" +
			"in and below them. Packages that several projects use are fetched only once.",
	}, runInstall, configFlags(severalFlags(append(placeFlags(), dryRunFlag())...)...))
}

// placeFlags are for install and init.
func placeFlags() []addFlag {
	return append(lockFlags(), pruneFlag(),
		toggle("locked", "install exactly what the lock says, or fail; never write the lock; the default if CI is set"),
		text("bundle", "take the packages from the bundle in `FILE`, and send no requests"),
		hidden("lockfile", text("lockfile", "with `MODE` readonly, the same as --locked")),
		toggle("upgrade", "select the newest allowed versions, regardless of the lock"),
	)
}

func dryRunFlag() addFlag {
	return toggle("dry-run", "show what would change, without changing anything but the cache")
}

// lockFlags is for commands that select versions.
func lockFlags() []addFlag {
	return append(providerFlags(), policyFlag(), mirrorFlag(),
		toggle("offline", "send no requests: use only what is installed or cached"),
		toggle("unify", "use one version for all calls of the same source"),
		acceptUnreachableFlag(),
	)
}

// acceptUnreachableFlag has no setting, because the author of a repository must not accept a commit for the
// user.
func acceptUnreachableFlag() addFlag {
	return texts("accept-unreachable", "use the locked commit of the call `KEY`, even if no branch or tag contains it; can be repeated")
}

func runInstall(ctx context.Context, cmd *invocation, out *output) error {
	req, err := newRequest(cmd, out.Env)
	if err != nil {
		return err
	}
	if req.Locked, err = locked(cmd, out.Env, req.stock); err != nil {
		return err
	}
	req.Update.All = cmd.Bool("upgrade")
	err = installProjects(ctx, cmd, out, req)
	warnOfCI(cmd, out, req.stock, err)
	return err
}

// warnOfCI explains why a failed run was locked, if only because of the environment.
func warnOfCI(cmd *invocation, out *output, args stockArguments, err error) {
	mode, in := lockMode(cmd, args)
	byDefault := !cmd.IsSet("locked") && !cmd.IsSet("lockfile")
	if byDefault && mode != "" && advice.Is[*installer.LockedError](err) {
		out.warnf("there is -lockfile=%s%s, so the lock may not change", mode, in)
	} else if byDefault && (advice.Is[*installer.LockedError](err) || advice.Is[advice.NoConfigurationError](err)) {
		out.warnf("CI is set, so the lock may not change")
	}
}

// installProjects installs the project of the request, or those that the arguments name.
func installProjects(ctx context.Context, cmd *invocation, out *output, req request) error {
	if !severalProjects(cmd) {
		return installOne(ctx, cmd, out, req)
	}
	in, err := prepareInstall(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	return installAll(ctx, cmd, out, in, req)
}

func install(ctx context.Context, cmd *invocation, out *output, in *installer.Installer, req request) error {
	if err := checkSecondLock(ctx, req); err != nil {
		return err
	}
	progress, writes := newProgress(out), &writer{cmd: cmd, out: out, in: in, req: req}
	req.OnEvent = func(event installer.Event) {
		writes.note(event)
		progress.event(event)
	}
	result, err := in.Install(ctx, req.Project, req.InstallOptions)
	progress.end()
	if err != nil {
		return err
	}
	if req.DryRun {
		err := out.planned(result, progress.tally)
		if err == nil && cmd.Bool("check") {
			err = out.checkLock("", result)
		}
		return err
	}
	writes.write(ctx, req.Project)
	out.relocked = len(result.LockChanges) > 0
	if err := out.installed(done(req), result, progress.tally); err != nil {
		return err
	}
	if req.LockOnly {
		out.lockedOnly(result)
	}
	if result.Dialect == installer.DialectOpenTofu {
		out.warnOfVersion(ctx, req)
	}
	return nil
}

// prepareInstall reads the flags that installing commands share into a request.
func prepareInstall(ctx context.Context, cmd *invocation, out *output, req *request) (_ *installer.Installer, err error) {
	req.Offline, req.Unify = cmd.Bool("offline") || cmd.String("bundle") != "", cmd.Bool("unify")
	if err := setProviders(cmd, req); err != nil {
		return nil, err
	}
	if *req, err = applySettings(cmd, out.Env, *req); err != nil {
		return nil, err
	}
	in, err := newInstaller(ctx, cmd, out, *req)
	if err != nil {
		return nil, err
	}
	out.warnIgnored(cmd, req.stock, req.Dialect)
	if err := addBundle(cmd, req); err != nil {
		return nil, err
	}
	if !severalProjects(cmd) { // each of several projects has its own mirrors
		*req, err = newMirrors(cmd, out, in).inRequest(ctx, *req)
	}
	return telling(in, out), err
}

// locked reports whether --locked or the stock tools' -lockfile=readonly is set. Without them, runs on build
// servers, which set CI, are locked: they install just what was reviewed.
func locked(cmd *invocation, env func(string) string, args stockArguments) (bool, error) {
	mode, in := lockMode(cmd, args)
	readonly, err := chosen("-lockfile"+in, mode, map[string]bool{"": false, "readonly": true})
	asked, name := readonly || cmd.Bool("locked"), "--locked"
	if readonly {
		name = "-lockfile=readonly" + in
	}
	switch {
	case err != nil:
		return false, err
	case readonly && cmd.IsSet("locked") && !cmd.Bool("locked"):
		return false, usageError{fmt.Errorf("-lockfile=readonly and --locked=false cannot be used together")}
	case asked && cmd.Bool("upgrade"):
		return false, usageError{fmt.Errorf("%s and --upgrade cannot be used together: one keeps the lock as it is, the other changes it", name)}
	case asked || cmd.IsSet("locked") || cmd.Bool("upgrade"): // the last asks for a change of the lock
		return asked, nil
	}
	return onBuildServer(env), nil
}

// lockMode returns the mode of -lockfile, and for one of the environment where it is, as in " in TF_CLI_ARGS". Flags of
// the command line come first.
func lockMode(cmd *invocation, args stockArguments) (mode, in string) {
	switch {
	case cmd.IsSet("lockfile") || cmd.IsSet("locked"):
		return cmd.String("lockfile"), ""
	case args.lockMode == "":
		return "", ""
	}
	return args.lockMode, " in " + args.lockModeIn
}

func onBuildServer(env func(string) string) bool {
	switch env("CI") {
	case "", "0", "false":
		return false
	}
	return true
}

func installOne(ctx context.Context, cmd *invocation, out *output, req request) error {
	if empty, err := skipEmpty(ctx, out, req); empty || err != nil {
		return err
	}
	in, err := prepareInstall(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	return install(ctx, cmd, out, in, req)
}
