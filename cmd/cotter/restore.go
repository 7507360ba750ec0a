package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"
)

func restoreCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "restore",
		Usage: "restore module entries that a stock tool removed from the lock",
		Description: "Takes them from the copy that the last installation kept in .terraform, or else\n" +
			"from the last commit in git, and changes nothing else.",
		Flags: projectFlags(),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			req, err := request(cmd, out.env)
			if err != nil {
				return err
			}
			restored, err := localInstaller(cmd, out).Restore(ctx, req)
			if err != nil {
				return err
			}
			if out.json {
				return out.writeJSON(map[string]any{"from": restored.From, "keys": restored.Keys})
			}
			out.printf("Restored %s from %s.\n", entries(len(restored.Keys)), restored.From)
			return nil
		},
	}
}

func entries(n int) string {
	if n == 1 {
		return "1 module entry"
	}
	return fmt.Sprintf("%d module entries", n)
}
