package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v3"
)

// run runs the command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	useOwnHelp()
	out := &output{stdout: stdout, stderr: stderr, env: os.Getenv, started: time.Now()}
	app := newApp(out)
	err := app.Run(ctx, args)
	if err != nil && !is[toolExit](err) && !out.interrupted(ctx, err) {
		out.printError(err)
	}
	return exitStatus(ctx, err)
}

// newApp returns the command with all its subcommands.
func newApp(out *output) *cli.Command {
	app := &cli.Command{
		Name:      "cotter",
		Usage:     "install, lock and verify the modules of an OpenTofu or Terraform configuration",
		Writer:    out.stdout,
		ErrWriter: out.stderr,
		Flags:     globalFlags(),
		Commands: []*cli.Command{
			installCommand(out),
			initCommand(out),
			lockCommand(out),
			verifyCommand(out),
			updateCommand(out),
			outdatedCommand(out),
			diffCommand(out),
			whyCommand(out),
			restoreCommand(out),
			mergeLockCommand(out),
			listCommand(out),
			treeCommand(out),
			graphCommand(out),
			sbomCommand(out),
			cacheCommand(out),
			vendorCommand(out),
			bundleCommand(out),
			mirrorCommand(out),
			doctorCommand(out),
			demoCommand(out),
			versionCommand(out),
			completionCommand(out),
			completeCommand(out),
			manCommand(out),
		},
		Action: func(_ context.Context, cmd *cli.Command) error {
			if cmd.Bool("version") {
				return printVersion(out)
			}
			return helpOrUnknown(cmd)
		},
		// Errors are printed below, once and in one way.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError:   func(_ context.Context, cmd *cli.Command, err error, _ bool) error { return flagError(cmd, err) },
		HideVersion:    true,
	}
	prepare(app, out)
	return app
}

// prepare gives all commands what they have in common: errors are told in one
// way, the output is configured, and a command that names no arguments in its
// usage takes none.
func prepare(parent *cli.Command, out *output) {
	for _, command := range parent.Commands {
		if command.OnUsageError == nil {
			command.OnUsageError = parent.OnUsageError
		}
		takesNone := command.ArgsUsage == "" && len(command.Commands) == 0
		command.Before = func(ctx context.Context, cmd *cli.Command) (context.Context, error) {
			out.configure(cmd)
			if takesNone {
				return ctx, noArguments(cmd)
			}
			return ctx, nil
		}
		prepare(command, out)
	}
}

// helpOrUnknown is what a command does that has only subcommands.
func helpOrUnknown(cmd *cli.Command) error {
	if name := cmd.Args().First(); name != "" {
		return unknownCommand(cmd, name)
	}
	return cli.ShowSubcommandHelp(cmd)
}

// globalFlags stand before or behind the subcommand, with one dash or two.
func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "chdir", Usage: "work in `DIR` instead of the current directory"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print errors only, and what was asked for"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print everything that happens"},
		&cli.BoolFlag{Name: "no-color", Usage: "print without colours, as with NO_COLOR in the environment"},
		&cli.BoolFlag{Name: "version", Usage: "print the version", Local: true},
	}
}

// projectFlags are those of every command that looks at a project.
func projectFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "for", Usage: "apply the conventions of `TOOL`: tofu, terraform or auto", Value: "auto"},
		&cli.StringFlag{Name: "lock-file", Usage: "keep the lock in `FILE` instead of .terraform.lock.hcl"},
		vendorFlag(),
		&cli.BoolFlag{Name: "json", Usage: "print JSON"},
	}, more...)
}

// noArguments refuses arguments where none are known.
func noArguments(cmd *cli.Command) error {
	if cmd.Args().Present() {
		return usageError{fmt.Errorf("cotter %s takes no argument, got %q", cmd.Name, cmd.Args().First())}
	}
	return nil
}
