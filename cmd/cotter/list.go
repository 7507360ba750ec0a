package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

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
		Usage: "print the tree of module calls, with the providers of each module",
		Description: "Below each module, it lists the modules that it calls and the providers that it requires:\n" +
			"with the versions in the lock, and in parentheses the constraints of that module.",
		Flags: configFlags(
			&cli.Flag{Name: "no-providers", Usage: "list modules only"},
		),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			req, err := request(cmd, out.env)
			if err != nil {
				return err
			}
			result, err := loadTree(ctx, cmd, out, req, !cmd.Bool("no-providers"))
			if err != nil {
				return err
			}
			if out.json {
				return out.writeJSON(treeRecord{jsonTree(result, nil), jsonProviders(result.Providers)})
			}
			out.tree(result)
			return nil
		},
	}
}

// loadTree reads the installed module tree of a request's project, and the providers if they are
// wanted. If only the requirements of providers are faulty, it warns and returns the modules.
func loadTree(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request, providers bool) (*cotter.Result, error) {
	if !providers {
		return load(ctx, cmd, out, req)
	}
	withProviders := req
	withProviders.Providers = &cotter.Providers{}
	result, failed := load(ctx, cmd, out, withProviders)
	if failed == nil {
		return result, nil
	}
	result, err := load(ctx, cmd, out, req)
	if err == nil {
		for _, m := range messages(failed) {
			out.warnf("the providers are not shown: %s", out.explained(m).line())
		}
	}
	return result, err
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
		address, version := p.Address.ForDisplay(), dash(p.Version.String())
		if cmd.Bool("evidence") {
			by, since := confirmed(p.Evidence)
			out.printf("%s\t%s\t%s\t%s\n", address, version, by, since)
			continue
		}
		out.printf("%s\t%s\t%s\n", address, version, dash(p.Dir))
	}
	return nil
}

// tree prints a module tree, with the root module as ".".
func (o *output) tree(result *cotter.Result) {
	o.printf(".\n")
	required := make(map[string][]string) // the lines for providers, by the keys of modules
	for _, p := range result.Providers {
		constraints := make(map[string][]string)
		for _, use := range p.RequiredBy {
			key := use.Path.String()
			if constraints[key] == nil {
				constraints[key] = []string{}
			}
			if use.Constraint != "" && !slices.Contains(constraints[key], use.Constraint) {
				constraints[key] = append(constraints[key], use.Constraint)
			}
		}
		for key, list := range constraints {
			line := "provider " + p.Address.ForDisplay() + " " + cmp.Or(p.Version.String(), "(not locked)")
			if len(list) > 0 {
				line += " (" + strings.Join(list, ", ") + ")"
			}
			required[key] = append(required[key], line)
		}
	}
	o.branches(result, nil, "", required)
}

// branches prints what is below a module: the modules that it calls, and the providers that it
// requires.
func (o *output) branches(result *cotter.Result, path addrs.Module, indent string, required map[string][]string) {
	children, providers := result.Children(path), required[path.String()]
	rest := len(children) + len(providers)
	joints := func() (joint, below string) {
		if rest--; rest == 0 {
			return "└── ", "    "
		}
		return "├── ", "│   "
	}
	for _, m := range children {
		joint, below := joints()
		o.printf("%s%s%s  %s\n", indent, joint, nameBelow(m), describe(m))
		o.branches(result, m.Path, indent+below, required)
	}
	for _, line := range providers {
		joint, _ := joints()
		o.printf("%s%s%s\n", indent, joint, line)
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
