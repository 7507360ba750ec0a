package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
)

func listCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the installed modules, or the providers, one per line",
		Flags: configFlags(&cli.BoolFlag{Name: "providers", Usage: "list the providers that the modules require"}),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.Bool("providers") {
				return listProviders(ctx, cmd, out)
			}
			result, err := load(ctx, cmd, out)
			if err != nil {
				return err
			}
			if out.json {
				return out.writeJSON(jsonModules(result.Modules))
			}
			for _, m := range result.Modules {
				out.printf("%s\t%s\t%s\n", m.Path, describe(m), m.Dir)
			}
			return nil
		},
	}
}

func treeCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "tree",
		Usage: "print which module calls which",
		Flags: configFlags(),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			result, err := load(ctx, cmd, out)
			if err != nil {
				return err
			}
			if out.json {
				return out.writeJSON(jsonTree(result, nil))
			}
			out.tree(result)
			return nil
		},
	}
}

// load reads the installed tree of the project that the flags name.
func load(ctx context.Context, cmd *cli.Command, out *output) (*cotter.Result, error) {
	req, err := request(cmd, out.env)
	if err != nil {
		return nil, err
	}
	return localInstaller(cmd, out).Load(ctx, req)
}

// listProviders prints the providers with their versions and directories.
func listProviders(ctx context.Context, cmd *cli.Command, out *output) error {
	providers, err := loadProviders(ctx, cmd, out)
	if err != nil {
		return err
	}
	if out.json {
		return out.writeJSON(append([]jsonProvider{}, jsonProviders(providers)...))
	}
	for _, p := range providers {
		out.printf("%s\t%s\t%s\n", p.Address.ForDisplay(), dash(p.Version), dash(p.Dir))
	}
	return nil
}
