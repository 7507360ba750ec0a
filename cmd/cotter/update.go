package main

import (
	"context"

	"github.com/urfave/cli/v3"
)

func updateCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "update",
		Usage:     "move module calls to the newest versions that their constraints allow",
		ArgsUsage: "[KEY...]",
		Description: "Without arguments all calls; else those with the given paths, such as\n" +
			"network.subnets. All other calls stay as they are locked.",
		Flags: projectFlags(installFlags()...),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			out.configure(cmd)
			req, err := request(cmd, out.env)
			if err != nil {
				return err
			}
			req.UpgradeKeys = cmd.Args().Slice()
			req.Upgrade = len(req.UpgradeKeys) == 0
			return install(ctx, cmd, out, req)
		},
	}
}
