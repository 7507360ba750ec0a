package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/lockfile"
)

func initCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "install, run tofu init or terraform init, and keep the modules in the lock",
		ArgsUsage: "[DIR] [-- ARGS...]",
		Description: "Installs the modules and providers as install does, and then runs init of the\n" +
			"project's tool with the arguments after --. It then puts back the module entries that\n" +
			"the tool has dropped from the lock, and exits with the tool's exit status.\n" +
			"\n" +
			"These arguments of the tool also apply to Cotter: -upgrade, -lockfile, -var, -var-file,\n" +
			"-test-directory, -plugin-dir and -json. They can also be in the environment variables\n" +
			"TF_CLI_ARGS and TF_CLI_ARGS_init.",
		Flags: configFlags(append(lockFlags(), pruneFlag(),
			&cli.Flag{Name: "tool", Type: cli.String, Usage: "run `TOOL`, a path or a name in PATH, instead of the project's tool"},
			&cli.Flag{Name: "locked", Usage: "install exactly what the lock says, or fail; never write the lock; the default if CI is set"},
			&cli.Flag{Name: "bundle", Type: cli.String, Usage: "take the packages from the bundle in `FILE`, and send no requests"},
			&cli.Flag{Name: "lockfile", Type: cli.String, Usage: "with `MODE` readonly, the same as --locked"},
			&cli.Flag{Name: "upgrade", Usage: "select the newest allowed versions, regardless of the lock"},
			&cli.Flag{Name: "test-directory", Type: cli.String, Usage: "look for tests in `DIR`"}, // an argument of the tool
		)...),
		FlagsNote: "put arguments for tofu or terraform after --, as in `cotter init -- -backend=false`",
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runInit(ctx, cmd, out)
		},
	}
}

// runInit installs a project and runs init of its stock tool.
func runInit(ctx context.Context, cmd *cli.Invocation, out *output) error {
	dir, args, err := initArguments(cmd)
	if err != nil {
		return err
	}
	shared, err := readSharedFlags(out.env, args)
	if err != nil {
		return err
	}
	if err := shared.apply(cmd); err != nil {
		return err
	}
	out.configure(cmd) // again, because -json may be a shared flag
	req, err := initRequest(cmd, out, dir)
	if err != nil {
		return err
	}
	tool, err := findTool(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	signals := catchSignals(ctx)
	defer signals.stop()
	if err := installOne(ctx, cmd, out, req); err != nil {
		warnOfCI(cmd, out, err)
		return err
	}
	before, err := os.ReadFile(lockPath(req))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	manifest := readManifest(req)
	// afterTool restores the modules in the lock even if the tool fails or ctx is canceled.
	ended := signals.run(tool.command(context.WithoutCancel(ctx), out, toolArguments(cmd, req, shared, args)))
	return afterTool(context.WithoutCancel(ctx), cmd, out, req, handover{tool: tool, lock: before, manifest: manifest, ended: ended})
}

// initArguments returns the directory and the arguments for the tool. The parser of the
// command line puts both in one list. The arguments for the tool begin with a flag, because
// init of the tools takes no other arguments.
func initArguments(cmd *cli.Invocation) (dir string, args []string, err error) {
	args = cmd.Args()
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		dir, args = args[0], args[1:]
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return "", nil, usageError{fmt.Errorf("cotter init takes one directory, and also got %q; put flags for the tool after --", args[0])}
	}
	return dir, args, nil
}

// initRequest returns the request for the installation.
func initRequest(cmd *cli.Invocation, out *output, dir string) (cotter.Request, error) {
	req, err := flagRequest(cmd, out.env)
	if err != nil {
		return req, err
	}
	switch {
	case dir == "":
	case filepath.IsAbs(dir):
		req.Dir = dir
	default:
		req.Dir = filepath.Join(req.Dir, dir)
	}
	if info, err := os.Stat(cmp.Or(req.Dir, ".")); err != nil {
		return req, err
	} else if !info.IsDir() {
		return req, fmt.Errorf("%s is not a directory", req.Dir)
	}
	if req.Locked, err = locked(cmd, out.env); err != nil {
		return req, err
	}
	req.Update.All = cmd.Bool("upgrade")
	if err := setProviders(cmd, &req); err != nil {
		return req, err
	}
	return applySettings(cmd, out.env, req)
}

// lockPath returns the path of the file with the module entries.
func lockPath(req cotter.Request) string {
	name := cmp.Or(req.LockFile, stockLockName)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(req.Dir, name)
}

// readManifest returns the content of modules.json, in which stock tools record the
// installed modules. It returns nil if the file cannot be read.
func readManifest(req cotter.Request) []byte {
	data := cmp.Or(req.DataDir, ".terraform")
	if !filepath.IsAbs(data) {
		data = filepath.Join(req.Dir, data)
	}
	text, err := os.ReadFile(filepath.Join(data, "modules", "modules.json"))
	if err != nil {
		return nil
	}
	return text
}

// handover is a run of the stock tool on a project.
type handover struct {
	tool           stockTool
	lock, manifest []byte // the files before the tool ran
	ended          error  // the result of the tool, or nil if it was successful
}

// afterTool puts back the module entries that the tool has dropped from the lock. It
// returns the tool's error, if there is one.
func afterTool(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request, h handover) error {
	keys, err := restoreDropped(ctx, localInstaller(cmd, out), req, h.lock)
	if err != nil {
		err = fmt.Errorf("%s was run, but the entries that it dropped from the lock could not be put back: %w", h.tool.name(), err)
	}
	if h.ended != nil {
		if err != nil {
			out.printError(err)
		}
		return h.ended
	}
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		if err := out.keptModules(h.tool.name(), keys, req); err != nil {
			return err
		}
	}
	if h.manifest != nil && cmd.String("only") != "providers" && string(readManifest(req)) != string(h.manifest) {
		out.warnf("%s has installed modules other than the locked ones; `cotter verify` compares them, and `cotter install` restores the locked ones", h.tool.name())
	}
	return nil
}

// restoreDropped puts back the module entries that an earlier text of the lock has, and returns
// their keys.
func restoreDropped(ctx context.Context, in *cotter.Installer, req cotter.Request, earlier []byte) ([]string, error) {
	lock, diags := lockfile.Parse(earlier, req.LockFile)
	if diags.HasErrors() {
		return nil, &cotter.LockFileError{File: req.LockFile, Diagnostics: diags}
	}
	restored, err := in.Restore(ctx, req, lock)
	if errors.Is(err, cotter.ErrNothingToRestore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return keysOf(restored.Modules), nil
}

// keptModules prints which module entries were put back.
func (o *output) keptModules(tool string, keys []string, req cotter.Request) error {
	if o.json {
		return o.writeJSON(restoredRecord{Tool: tool, Keys: keys, Providers: []string{}})
	}
	o.printf("Put back %s, which %s had dropped from %s.\n", entries(len(keys), "module"), tool, lockPath(req))
	return nil
}
