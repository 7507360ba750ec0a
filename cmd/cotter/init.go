package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/lockfile"
)

func initCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "init [DIR] [-- ARGS...]",
		Short: "install, run init of tofu or terraform, and keep modules in the lock",
		Long: "Installs the modules and providers as install does, and then runs init of the\n" +
			"project's tool with the arguments after --. It then puts back the module entries that\n" +
			"the tool has dropped from the lock, and exits with the tool's exit status.\n" +
			"\n" +
			"The arguments after -- are only for the tool. But Cotter reads the variables that they\n" +
			"set with -var and -var-file, and those in TF_CLI_ARGS and TF_CLI_ARGS_init.",
		Annotations: map[string]string{flagsNote: "put arguments for tofu or terraform after --, as in `cotter init -- -backend=false`"},
	}, runInit, configFlags(append(placeFlags(),
		text("tool", "run `TOOL`, a path or a name in PATH, instead of the project's tool"),
		hidden("test-directory", text("test-directory", "look for tests in `DIR`")), // an argument of the tool
	)...))
}

// runInit puts back the module entries that the tool has dropped from the lock even if the tool fails.
func runInit(ctx context.Context, cmd *invocation, out *output) error {
	req, args, err := initRequest(cmd, out)
	if err != nil {
		return err
	}
	tool, err := findTool(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	if err := installOne(ctx, cmd, out, req); err != nil {
		warnOfCI(cmd, out, req.stock, err)
		return err
	}
	before, err := os.ReadFile(lockPath(req))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	manifest := readManifest(req)

	// From here on, signals end neither this process nor the restoring of entries.
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(caught)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx = context.WithoutCancel(ctx)
	name := strings.TrimSuffix(filepath.Base(tool), ".exe")
	ended := runTool(name, toolCommand(ctx, out, tool, args), caught)
	if err := putBack(ctx, cmd, out, req, name, before); err != nil {
		if ended == nil {
			return err
		}
		out.printError(err)
	}
	if ended == nil && manifest != nil && cmd.String("only") != "providers" && !bytes.Equal(readManifest(req), manifest) {
		out.warnf("%s has installed modules itself, regardless of the lock; `cotter verify` compares them with it, and `cotter install` restores the locked ones", name)
	}
	return ended
}

// initRequest returns the request for the installation, and the arguments of the tool. The command line's
// parser puts the directory and the arguments after -- in one list. The latter begin with a flag, because
// init of the tools takes no other arguments.
func initRequest(cmd *invocation, out *output) (req request, args []string, err error) {
	if req, err = flagRequest(cmd, out.Env); err != nil {
		return req, nil, err
	}
	args = cmd.Args()
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		req.Dir, args = view.Below(req.Dir, args[0]), args[1:]
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return req, nil, usageError{fmt.Errorf("cotter init takes one directory, and also got %q; put flags for the tool after --", args[0])}
	}
	// The tool and Cotter need the same variables.
	if req.Inputs.Variables, err = appendVariables(req.Inputs.Variables, args); err != nil {
		return req, nil, usageError{err}
	}
	if req.Locked, err = locked(cmd, out.Env, req.stock); err != nil {
		return req, nil, err
	}
	req.Update.All = cmd.Bool("upgrade")
	args = append([]string{"init"}, args...)
	if req.Dir != "" && req.Dir != "." {
		args = append([]string{"-chdir=" + req.Dir}, args...)
	}
	req, err = applySettings(cmd, out.Env, req)
	return req, args, err
}

func lockPath(req request) string {
	return view.Below(req.Dir, cmp.Or(req.LockFile, lockfile.Name))
}

// readManifest returns modules.json, or nil if it cannot be read.
func readManifest(req request) []byte {
	text, err := os.ReadFile(view.Below(req.Dir, filepath.Join(cmp.Or(req.DataDir, ".terraform"), "modules", "modules.json")))
	if err != nil {
		return nil
	}
	return text
}

func putBack(ctx context.Context, cmd *invocation, out *output, req request, tool string, earlier []byte) error {
	lock, err := lockfile.Parse(earlier, req.LockFile)
	if err != nil {
		return err
	}
	restored, err := installerinternal.Restore(ctx, localInstaller(out), req.Project, lock)
	switch {
	case errors.Is(err, installerinternal.ErrNothingToRestore):
		return nil
	case err != nil:
		return fmt.Errorf("%s was run, but the entries that it dropped from the lock could not be put back: %w", tool, err)
	case len(restored.Modules) == 0:
		return nil
	case out.json:
		return out.writeJSON(records.Restored{Tool: tool, Keys: records.KeysOf(restored.Modules), Providers: []string{}})
	}
	out.printf("Put back %s, which %s had dropped from %s.\n", entries(len(restored.Modules), "module"), tool, lockPath(req))
	return nil
}
