package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

func whyCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "why",
		Usage:     "show which calls lead to a module, or which modules require a provider",
		ArgsUsage: "KEY|SOURCE|PROVIDER",
		Description: "For the key of a module call, such as network.subnets, or for a source address without\n" +
			"subdirectory and version, it shows each chain of calls with files and lines. For a\n" +
			"provider, such as hashicorp/aws, it shows the modules that require it, with their\n" +
			"version constraints.",
		Flags: configFlags(),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runWhy(ctx, cmd, out)
		},
	}
}

func runWhy(ctx context.Context, cmd *cli.Invocation, out *output) error {
	if cmd.NArg() != 1 {
		return usageError{fmt.Errorf("cotter why takes one argument: the key of a module call, a source address, or a provider")}
	}
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	result, err := load(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	wanted := cmd.Arg(0)
	var chains [][]cotter.Module
	for _, m := range result.Modules {
		if m.Path.String() == wanted || hasSource(m, wanted) {
			chains = append(chains, chainTo(result, m))
		}
	}
	if len(chains) == 0 {
		if found, err := whyProvider(ctx, cmd, out, req, wanted); found || err != nil {
			return err
		}
		return nothingNamed(ctx, cmd, out, req, result, wanted)
	}
	if out.json {
		return out.writeJSON(jsonChains(chains))
	}
	for _, chain := range chains {
		for depth, m := range chain {
			out.printf("%s%s  %s  (%s)\n", strings.Repeat("  ", depth), nameBelow(m), describe(m), out.place("", m.Call.Range))
		}
	}
	return nil
}

// nothingNamed returns the error for a name that is neither a module nor a provider of the
// project.
func nothingNamed(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request, result *cotter.Result, name string) error {
	var known []string
	for _, m := range result.Modules {
		known = append(known, m.Path.String())
	}
	providers, err := providerNames(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	hint := didYouMean(name, append(known, providers...))
	if hint == "" {
		hint = "Run `cotter list` to see the modules, and `cotter list --providers` to see the providers."
	}
	return hinted(fmt.Errorf("no module has the key or the source %q, and no module requires a provider of that name", name), hint)
}

// hasSource reports whether wanted is a module's source address, or the address of the
// module's package.
func hasSource(m cotter.Module, wanted string) bool {
	for _, source := range []string{m.Source.String(), m.Source.ForDisplay()} {
		pkg, _ := addrs.SplitSubdir(source)
		pkg, _, _ = strings.Cut(pkg, "?")
		if source == wanted || pkg == wanted {
			return true
		}
	}
	return false
}

// chainTo returns the modules from the call in the root module down to a module.
func chainTo(result *cotter.Result, to cotter.Module) []cotter.Module {
	var chain []cotter.Module
	for _, m := range result.Modules {
		if to.Path.String() == m.Path.String() || strings.HasPrefix(to.Path.String(), m.Path.String()+".") {
			chain = append(chain, m)
		}
	}
	return chain // in the order of the keys, and so from the top down
}

func jsonChains(chains [][]cotter.Module) record {
	list := [][]jsonModule{}
	for _, chain := range chains {
		list = append(list, jsonModules(chain, false))
	}
	return chainsRecord{list}
}
