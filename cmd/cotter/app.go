package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &output{stdout: forLog(stdout, os.Getenv), stderr: forLog(stderr, os.Getenv), started: time.Now(), Run: advice.Run{Env: os.Getenv, Reached: new(atomic.Bool)}}
	out.columns, out.errColumns = view.TerminalWidth(out.stdout), view.TerminalWidth(out.stderr)
	err := runLine(ctx, args[1:], out)
	if lost := lostOutput(out.stdout); lost != nil && (!isFailure(err) || errors.Is(err, lost)) {
		err = errOutput(lost)
	}
	if isFailure(err) && (out.json || !advice.Is[exitOnly](err)) && !out.interrupted(ctx, err) {
		out.printError(err)
	}
	return exitStatus(ctx, err)
}

// runLine runs the command that a command line names, or prints its help.
func runLine(ctx context.Context, words []string, out *output) error {
	app := newApp(out)
	app.SetArgs(longFlags(app, words))
	var unknown error // a function that prints help cannot return an error
	app.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if unknown = checkGroup(c); unknown == nil {
			printHelp(out.stdout, c)
		}
	})
	return cmp.Or(app.ExecuteContext(ctx), unknown)
}

func newApp(out *output) *cobra.Command {
	app := command(out, &cobra.Command{
		Use:   "cotter",
		Short: "install, lock and verify the modules and providers of an OpenTofu or Terraform configuration",
	}, nil, []addFlag{toggle("version", "print the version"), toggle("json", "print JSON")},
		installCommand(out), initCommand(out), lockCommand(out), verifyCommand(out), updateCommand(out), outdatedCommand(out), diffCommand(out),
		treeCommand(out), sbomCommand(out), cacheCommand(out), bundleCommand(out), mirrorCommand(out), doctorCommand(out), demoCommand(out), completionCommand(out),
	)
	group := app.RunE
	app.RunE = func(c *cobra.Command, args []string) error {
		if cmd := (&invocation{c, args}); cmd.Bool("version") {
			out.configure(cmd)
			return out.end(printVersion(out))
		}
		return group(c, args)
	}
	for _, add := range globalFlags() {
		add(app.PersistentFlags())
	}
	_ = app.RegisterFlagCompletionFunc("chdir", completeValue("DIR"))
	app.SilenceErrors, app.SilenceUsage = true, true
	app.CompletionOptions.DisableDefaultCmd = true
	app.SetOut(out.stdout)
	app.SetErr(io.Discard) // of completions
	app.SetHelpCommand(helpCommand(out))
	app.SetFlagErrorFunc(lineError)
	return app
}

func globalFlags() []addFlag {
	return []addFlag{
		text("chdir", "work in `DIR` instead of the current directory"),
		func(set *pflag.FlagSet) { set.BoolP("quiet", "q", false, "print only errors and the requested output") },
		func(set *pflag.FlagSet) { set.BoolP("verbose", "v", false, "print everything that happens") },
		toggle("no-color", "print without colors, as if NO_COLOR were set"),
	}
}

// projectFlags returns the flags of commands that work on a project, and more.
func projectFlags(more ...addFlag) []addFlag {
	return append([]addFlag{
		func(set *pflag.FlagSet) {
			set.String("for", "auto", "apply the conventions of `TOOL`: tofu, terraform or auto")
		},
		toggle("json", "print JSON"),
	}, more...)
}
