package main

import (
	"context"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

func listCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "list the installed modules, or the providers, one per line",
		ArgsUsage: "[DIR...]",
		Flags:     configFlags(severalFlags(&cli.Flag{Name: "providers", Usage: "list the providers that the modules require"})...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			run := listModules
			if cmd.Bool("providers") {
				run = listProviders
			}
			return forProjects(ctx, cmd, out, func(ctx context.Context, out *output, req cotter.Request) error {
				return run(ctx, cmd, out, req)
			})
		},
	}
}

// listModules prints the modules with their versions and directories.
func listModules(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	result, err := load(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	if out.json {
		return out.writeJSON(modulesRecord{jsonModules(result.Modules)})
	}
	for _, m := range result.Modules {
		out.printf("%s\t%s\t%s\n", m.Path, describe(m), m.Dir)
	}
	return nil
}

func treeCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "tree",
		Usage: "print the tree of module calls",
		Flags: configFlags(),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			req, err := request(cmd, out.env)
			if err != nil {
				return err
			}
			result, err := load(ctx, cmd, out, req)
			if err != nil {
				return err
			}
			if out.json {
				return out.writeJSON(treeRecord{jsonTree(result, nil)})
			}
			out.tree(result)
			return nil
		},
	}
}

// load reads the installed module tree of a request's project.
func load(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) (*cotter.Result, error) {
	return localInstaller(cmd, out).Load(ctx, req)
}

// listProviders prints the providers with their versions and directories.
func listProviders(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	providers, err := loadProviders(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	if out.json {
		return out.writeJSON(providersRecord{append([]jsonProvider{}, jsonProviders(providers)...)})
	}
	for _, p := range providers {
		out.printf("%s\t%s\t%s\n", p.Address.ForDisplay(), dash(p.Version), dash(p.Dir))
	}
	return nil
}

// tree prints a module tree, with the root module as ".".
func (o *output) tree(result *cotter.Result) {
	o.printf(".\n")
	o.branches(result, nil, "")
}

func (o *output) branches(result *cotter.Result, path addrs.Module, indent string) {
	children := result.Children(path)
	for i, m := range children {
		joint, below := "├── ", "│   "
		if i == len(children)-1 {
			joint, below = "└── ", "    "
		}
		o.printf("%s%s%s  %s\n", indent, joint, nameBelow(m), describe(m))
		o.branches(result, m.Path, indent+below)
	}
}

// nameBelow returns a module's path relative to its caller. It has more than one part if a
// test runs the module.
func nameBelow(m cotter.Module) string { return m.Path[len(m.Caller()):].String() }

// describe returns the source and the version of a module.
func describe(m cotter.Module) string {
	text := addrs.Redact(m.Source.ForDisplay())
	if m.Version != "" {
		text += " " + m.Version
	}
	return text
}
