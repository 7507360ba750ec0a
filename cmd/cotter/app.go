package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// run runs the command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &output{stdout: forLog(stdout, os.Getenv), stderr: forLog(stderr, os.Getenv), env: os.Getenv, started: time.Now(), reached: new(atomic.Bool)}
	out.columns, out.errColumns = terminalWidth(out.stdout), terminalWidth(out.stderr)
	err := runLine(ctx, args[1:], out)
	if err != nil && !is[exitOnly](err) && !out.interrupted(ctx, err) {
		out.printError(err)
	}
	return exitStatus(ctx, err)
}

// runLine runs the command that a command line names, or prints its help.
func runLine(ctx context.Context, words []string, out *output) error {
	cmd, err := cli.Parse(newApp(out), words)
	wantsHelp := cmd.Bool("help") && !is[*cli.UnknownCommandError](err)
	switch {
	case wantsHelp, err == nil && cmd.Command.Run == nil:
		printHelp(out.stdout, pageOf(cmd.Command))
		return nil
	case err != nil:
		return lineError(cmd.Command, err)
	}
	out.configure(cmd)
	if cmd.Command.ArgsUsage == "" && cmd.NArg() > 0 {
		return usageError{fmt.Errorf("cotter %s takes no argument, got %q", cmd.Command.Name, cmd.Arg(0))}
	}
	if err := flagAsArgument(cmd); err != nil {
		return err
	}
	return cmd.Command.Run(ctx, cmd)
}

// newApp returns the command with all its subcommands.
func newApp(out *output) *cli.Command {
	app := &cli.Command{
		Name:  "cotter",
		Usage: "install, lock and verify the modules and providers of an OpenTofu or Terraform configuration",
		Flags: globalFlags(),
		Commands: []*cli.Command{
			installCommand(out),
			initCommand(out),
			lockCommand(out),
			verifyCommand(out),
			updateCommand(out),
			outdatedCommand(out),
			diffCommand(out),
			mergeLockCommand(out),
			treeCommand(out),
			sbomCommand(out),
			cacheCommand(out),
			bundleCommand(out),
			mirrorCommand(out),
			doctorCommand(out),
			demoCommand(out),
			versionCommand(out),
			completionCommand(out),
			completeCommand(out),
		},
		Run: func(_ context.Context, cmd *cli.Invocation) error {
			if cmd.Bool("version") {
				return printVersion(out)
			}
			printHelp(out.stdout, pageOf(cmd.Command))
			return nil
		},
	}
	addHelp(app, out)
	return cli.Link(app)
}

// globalFlags returns the flags of every command.
func globalFlags() []*cli.Flag {
	return []*cli.Flag{
		{Name: "chdir", Type: cli.String, Usage: "work in `DIR` instead of the current directory"},
		{Name: "quiet", Short: "q", Usage: "print only errors and the requested output"},
		{Name: "verbose", Short: "v", Usage: "print everything that happens"},
		{Name: "no-color", Usage: "print without colors, as if NO_COLOR were set in the environment"},
		{Name: "version", Usage: "print the version", Local: true},
	}
}

// projectFlags returns the flags of every command that works on a project, followed by
// more.
func projectFlags(more ...*cli.Flag) []*cli.Flag {
	return append([]*cli.Flag{
		{Name: "for", Type: cli.String, Usage: "apply the conventions of `TOOL`: tofu, terraform or auto", Default: "auto"},
		{Name: "json", Usage: "print JSON"},
	}, more...)
}
