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
		Description: "With --evidence it shows for each package who confirms it, and since which day: its\n" +
			"origin, a mirror or a bundle that you name, or you. It sends no requests. Local modules\n" +
			"are not listed then, because they are files of the project or of their caller's package.",
		Flags: configFlags(severalFlags(append(evidenceFlags(),
			&cli.Flag{Name: "providers", Usage: "list the providers that the modules require"},
			&cli.Flag{Name: "evidence", Usage: "show who confirms each package, and since when"},
		)...)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			run := listModules
			switch {
			case cmd.Bool("providers"):
				run = listProviders
			case cmd.Bool("evidence"):
				run = listEvidence
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
		return out.writeJSON(modulesRecord{jsonModules(result.Modules, false)})
	}
	for _, m := range result.Modules {
		out.printf("%s\t%s\t%s\n", m.Path, describe(m), m.Dir)
	}
	return nil
}

// listEvidence prints who confirms the packages of modules.
func listEvidence(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	in := localInstaller(cmd, out)
	req, err := withNamedStores(ctx, cmd, out, in, req)
	if err != nil {
		return err
	}
	result, err := in.Load(ctx, req)
	if err != nil {
		return err
	}
	if out.json {
		return out.writeJSON(modulesRecord{jsonModules(result.Modules, true)})
	}
	for _, m := range result.Modules {
		if hasPackage(m) {
			by, since := confirmed(m.Evidence)
			out.printf("%s\t%s\t%s\t%s\n", m.Path, describe(m), by, since)
		}
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

// listProviders prints the providers with their versions, and with their directories or, with
// --evidence, with who confirms their packages.
func listProviders(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	providers, err := loadProviders(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	if out.json {
		return out.writeJSON(providersRecord{append([]jsonProvider{}, jsonProviders(providers)...)})
	}
	for _, p := range providers {
		details := dash(p.Dir)
		if cmd.Bool("evidence") {
			by, since := confirmed(p.Evidence)
			details = by + "\t" + since
		}
		out.printf("%s\t%s\t%s\n", p.Address.ForDisplay(), dash(p.Version.String()), details)
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
	if !m.Version.IsZero() {
		text += " " + m.Version.String()
	}
	return text
}
