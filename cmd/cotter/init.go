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
)

func initCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "install, run init of tofu or terraform, and keep the lock's modules",
		ArgsUsage: "[DIR] [-- ARGS...]",
		Description: "Installs the modules and providers as install does, and then runs init of the\n" +
			"project's tool with the arguments behind --. It puts back the modules' entries that\n" +
			"the tool drops from the lock, and ends with the tool's exit status.\n" +
			"\n" +
			"What those arguments say of modules, providers and the lock goes for both: -upgrade,\n" +
			"-lockfile, -var, -var-file, -test-directory, -plugin-dir and -json. Those in the\n" +
			"environment, in TF_CLI_ARGS and TF_CLI_ARGS_init, count too.",
		Flags: configFlags(append(lockFlags(),
			&cli.Flag{Name: "tool", Type: cli.String, Usage: "run `TOOL`, a path or a name in PATH, instead of the project's"},
			&cli.Flag{Name: "locked", Usage: "install exactly what the lock says, or fail; never write the lock; the default if CI is set"},
			&cli.Flag{Name: "bundle", Type: cli.String, Usage: "take the packages from the bundle in `FILE`, and send no requests"},
			&cli.Flag{Name: "lockfile", Type: cli.String, Usage: "with `MODE` readonly, the same as --locked"},
			&cli.Flag{Name: "upgrade", Usage: "select the newest allowed versions, whatever the lock says"},
		)...),
		FlagsNote: "arguments for tofu or terraform stand behind --, as in `cotter init -- -backend=false`",
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runInit(ctx, cmd, out)
		},
	}
}

// runInit installs a project and hands it over to its stock tool.
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
	out.configure(cmd) // -json may be among them
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
	// Whatever becomes of the tool, the lock keeps its modules.
	ended := signals.run(tool.command(context.WithoutCancel(ctx), out, toolArguments(cmd, req, shared, args)))
	return afterTool(context.WithoutCancel(ctx), cmd, out, req, handover{tool: tool, lock: before, manifest: manifest, ended: ended})
}

// initArguments are the directory and the tool's arguments. All that the command line
// parser leaves are in one list; the tool's begin with a flag, as init takes no others.
func initArguments(cmd *cli.Invocation) (dir string, args []string, err error) {
	args = cmd.Args()
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		dir, args = args[0], args[1:]
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return "", nil, usageError{fmt.Errorf("cotter init takes one directory, and got %q too; flags for the tool stand behind --", args[0])}
	}
	return dir, args, nil
}

// initRequest is what to install.
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
	return applySettings(cmd, req)
}

// lockPath is the file that has the modules' entries.
func lockPath(req cotter.Request) string {
	name := cmp.Or(req.LockFile, ".terraform.lock.hcl")
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(req.Dir, name)
}

// readManifest is modules.json, in which stock tools note what is installed; nil if it
// cannot be read.
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

// handover is a project before the tool ran, and how the tool ended.
type handover struct {
	tool           stockTool
	lock, manifest []byte
	ended          error
}

// afterTool puts back what the tool has dropped from the lock, and returns how the tool
// ended.
func afterTool(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request, h handover) error {
	keys, err := localInstaller(cmd, out).RestoreModules(ctx, req, h.lock)
	if err != nil {
		err = fmt.Errorf("%s was run, and what it dropped from the lock could not be put back: %w", h.tool.name(), err)
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
		out.warnf("%s has installed other modules than those of the lock; `cotter verify` compares them, and `cotter install` puts them right", h.tool.name())
	}
	return nil
}

// keptModules says which entries were put back.
func (o *output) keptModules(tool string, keys []string, req cotter.Request) error {
	if o.json {
		return o.writeJSON(restoredRecord{Tool: tool, Keys: keys, Providers: []string{}})
	}
	o.printf("Put back %s, which %s had dropped from %s.\n", entries(len(keys), "module"), tool, lockPath(req))
	return nil
}
