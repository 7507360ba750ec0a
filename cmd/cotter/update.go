package main

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
)

func updateCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "update",
		Usage:     "move modules and providers to the newest versions that their constraints allow",
		ArgsUsage: "[KEY|PROVIDER...]",
		Description: "Updates the calls with the given paths, such as network.subnets, and the providers\n" +
			"with the given addresses, such as hashicorp/aws; without arguments, everything.\n" +
			"The rest of the lock stays as it is. For each module that changes it lists what\n" +
			"the caller sees: variables, outputs, providers.",
		Flags: configFlags(append(installFlags(),
			&cli.StringFlag{Name: "to", Usage: "move the one call KEY to `VERSION`, which its constraint must allow"},
			&cli.StringSliceFlag{Name: "accept-changed", Usage: "accept other content under the same version, tag or address for the call `KEY`; can be repeated"},
			&cli.BoolFlag{Name: "allow-downgrade", Usage: "allow a lower version than the locked one"},
			&cli.BoolFlag{Name: "markdown", Usage: "print the changes as a table in Markdown"},
		)...),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			req, err := request(cmd, out.env)
			if err != nil {
				return err
			}
			setUpdates(cmd, &req)
			req.Update.To, req.Update.AllowDowngrade = cmd.String("to"), cmd.Bool("allow-downgrade")
			req.Update.AcceptChanged = cmd.StringSlice("accept-changed")
			if req.Update.To != "" && len(req.Update.Keys) != 1 {
				return usageError{errors.New("--to needs just one call to update")}
			}
			if dir, empty := withoutConfiguration(req); empty {
				return noConfigurationError{dir}
			}
			if cmd.Bool("markdown") {
				return updateMarkdown(ctx, cmd, out, req)
			}
			return install(ctx, cmd, out, req)
		},
	}
}

// updateMarkdown updates and prints nothing but the table, and warnings.
func updateMarkdown(ctx context.Context, cmd *cli.Command, out *output, req cotter.Request) error {
	in, err := prepareInstall(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	in.OnEvent = out.warning
	result, err := in.Install(ctx, req)
	if err != nil {
		return err
	}
	out.markdown(result.LockChanges)
	return nil
}

// setUpdates reads what is to be updated: arguments with a slash are addresses of
// providers, and all others are paths of module calls.
func setUpdates(cmd *cli.Command, req *cotter.Request) {
	req.Update.All = !cmd.Args().Present()
	for _, arg := range cmd.Args().Slice() {
		if strings.Contains(arg, "/") {
			req.Update.Providers = append(req.Update.Providers, arg)
			continue
		}
		req.Update.Keys = append(req.Update.Keys, arg)
	}
}
