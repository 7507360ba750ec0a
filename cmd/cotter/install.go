package main

import (
	"context"

	"github.com/urfave/cli/v3"
)

func installCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "install",
		Usage: "resolve, fetch, verify and place all modules, and write the lock",
		Description: "Installs the modules of the configuration in the current directory under\n" +
			".terraform/modules, where tofu and terraform find them, and records what it\n" +
			"chose in the lock file. Versions in the lock stay as long as they fit.",
		Flags: projectFlags(
			&cli.BoolFlag{Name: "locked", Usage: "install exactly what the lock says, or fail; never write the lock"},
			&cli.StringFlag{Name: "lockfile", Usage: "`MODE` readonly is the same as --locked"},
			&cli.BoolFlag{Name: "upgrade", Usage: "select the newest allowed versions, whatever the lock says"},
			&cli.StringFlag{Name: "cache-dir", Usage: "keep fetched packages in `DIR`"},
		),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return runInstall(ctx, cmd, out)
		},
	}
}

func runInstall(ctx context.Context, cmd *cli.Command, out *output) error {
	if err := noArguments(cmd); err != nil {
		return err
	}
	out.configure(cmd)
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	req.Locked, err = locked(cmd)
	if err != nil {
		return err
	}
	req.Upgrade = cmd.Bool("upgrade")
	in := installer(cacheDir(cmd, out.env))
	progress := newProgress(out)
	in.OnEvent = progress.event
	result, err := in.Install(ctx, req)
	progress.end()
	if err != nil {
		return err
	}
	return out.installed(result, progress)
}
