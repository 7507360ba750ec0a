package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// updateName is the name of the command update, whose arguments are not only directories: see
// dirArguments.
const updateName = "update"

func updateCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      updateName,
		Usage:     "update modules and providers to the newest versions that their constraints allow",
		ArgsUsage: "[KEY|PROVIDER|DIR...]",
		Description: "Updates the module calls with the given keys, such as network.subnets, and the\n" +
			"providers with the given addresses, such as hashicorp/aws. Without arguments it updates\n" +
			"everything. The rest of the lock does not change. For each module that changes, it\n" +
			"lists what changes for the caller: variables, outputs and providers.\n" +
			"\n" +
			"Tags in source addresses, such as \"?ref=v1.2.0\", do not change; newer tags are only\n" +
			"reported. With --edit, newer tags are first written into the configuration.\n" +
			"\n" +
			"Arguments that begin with a dot or are absolute paths are directories of projects:\n" +
			"`cotter update network ./envs/dev`. If there are several projects, those that do not\n" +
			"have a given call or provider do not change.",
		Flags: configFlags(severalFlags(append(installFlags(),
			&cli.Flag{Name: "to", Type: cli.String, Usage: "update the one call KEY to `VERSION`, which its constraint must allow"},
			&cli.Flag{Name: "accept-changed", Type: cli.Strings, Usage: "accept other content under the same version, tag or address for the call `KEY`; can be repeated"},
			&cli.Flag{Name: "allow-downgrade", Usage: "allow a lower version than the locked one"},
			&cli.Flag{Name: "edit", Usage: "write newer tags into the source addresses that name tags"},
			&cli.Flag{Name: "markdown", Usage: "print the changes as a table in Markdown"},
		)...)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			req, err := request(cmd, out.env)
			if err != nil {
				return err
			}
			setUpdates(cmd, &req)
			req.Update.To, req.Update.AllowDowngrade = cmd.String("to"), cmd.Bool("allow-downgrade")
			req.Update.AcceptChanged = cmd.Strings("accept-changed")
			if req.Update.To != "" && len(req.Update.Keys) != 1 {
				return usageError{errors.New("--to needs the key of one call, as in `cotter update network --to 1.2.0`")}
			}
			if cmd.Bool("edit") && req.Update.To != "" {
				return usageError{errors.New("--edit selects the newest tag, so it cannot be used with --to")}
			}
			return runUpdate(ctx, cmd, out, req)
		},
	}
}

func runUpdate(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	run := install
	switch dir, empty := withoutConfiguration(req); {
	case severalProjects(cmd):
		run = installAll
	case empty:
		return noConfigurationError{dir}
	case cmd.Bool("markdown"):
		run = updateMarkdown
	}
	if cmd.Bool("edit") {
		if err := editPins(ctx, cmd, out, req); err != nil {
			return err
		}
		return run(ctx, cmd, out, req)
	}
	if err := explainNames(ctx, cmd, out, req, run(ctx, cmd, out, req)); err != nil || out.json || cmd.Bool("markdown") || cmd.Bool("offline") {
		return err
	}
	return proposePins(ctx, cmd, out)
}

// updateMarkdown updates a project, and prints only the table and warnings.
func updateMarkdown(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	in, err := prepareInstall(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	if err := checkSecondLock(req); err != nil {
		return err
	}
	writes := &writer{cmd: cmd, out: out, in: in, req: req}
	var warnings originWarnings
	in.OnEvent = func(event cotter.Event) {
		writes.note(event)
		if !warnings.take("", event) {
			out.warning(event)
		}
	}
	result, err := in.Install(ctx, req)
	warnings.print(out)
	if err != nil {
		return err
	}
	writes.write(ctx, req.Dir)
	out.markdown(result)
	return nil
}

// updatesMarkdown prints the tables of several projects. The result of a project that failed
// is nil.
func (o *output) updatesMarkdown(dirs []string, results []*cotter.Result) {
	for i, result := range results {
		if result != nil && wouldChange(result) {
			o.printf("### %s\n\n", markdownCell(dirs[i]))
			o.markdown(result)
			o.printf("\n")
		}
	}
}

// setUpdates reads the arguments of update into a request. Of the arguments that are not
// directories, those with a slash are addresses of providers, and the others are keys of
// module calls.
func setUpdates(cmd *cli.Invocation, req *cotter.Request) {
	dirs := dirArguments(cmd)
	req.Update.All = cmd.NArg() == len(dirs)
	for _, arg := range cmd.Args() {
		if slices.Contains(dirs, arg) {
			continue
		}
		if strings.Contains(arg, "/") {
			req.Update.Providers = append(req.Update.Providers, arg)
			continue
		}
		req.Update.Keys = append(req.Update.Keys, arg)
	}
}
