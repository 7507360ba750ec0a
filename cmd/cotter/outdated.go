package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

func outdatedCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "outdated",
		Usage:     "list the module calls and providers that have newer versions",
		ArgsUsage: "[DIR...]",
		Description: "ALLOWED is the newest version that the call's constraint allows, and LATEST the newest\n" +
			"version of all. Source addresses with a tag that is a version, such as \"?ref=v1.2.0\",\n" +
			"are listed as well. With --all, calls that are up to date are listed too.",
		Flags: configFlags(severalFlags(
			&cli.Flag{Name: "all", Usage: "list all calls whose source has versions"},
			&cli.Flag{Name: "no-providers", Usage: "list modules only"}, minAgeFlag(), gitBackendFlag(),
		)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runOutdated(ctx, cmd, out)
		},
	}
}

func runOutdated(ctx context.Context, cmd *cli.Invocation, out *output) error {
	return withOrigins(ctx, cmd, out, func(ctx context.Context, in *cotter.Installer, out *output, req cotter.Request) error {
		return outdated(ctx, cmd, in, out, req)
	})
}

// outdated prints the modules and providers of a project that have newer versions.
func outdated(ctx context.Context, cmd *cli.Invocation, in *cotter.Installer, out *output, req cotter.Request) error {
	if dir, empty := withoutConfiguration(ctx, req); empty {
		return noConfigurationError{dir}
	}
	if err := setPolicy(cmd, &req); err != nil {
		return err
	}
	if !cmd.Bool("no-providers") {
		req.Providers = &cotter.Providers{}
	}
	list, failed := in.Outdated(ctx, req)
	if list == nil {
		list = &cotter.Outdated{}
	}
	if err := out.printOutdated(list.Modules, list.Providers, cmd.Bool("all"), failed == nil); err != nil {
		return err
	}
	return failed
}

// printOutdated prints the modules and providers that have newer versions, or all of them
// if all is set. complete reports whether all versions are known. If it is false, an empty
// list does not mean that everything is up to date, so printOutdated does not say so.
func (o *output) printOutdated(modules []cotter.OutdatedModule, providers []cotter.OutdatedProvider, all, complete bool) error {
	known, noProviders := len(modules)+len(providers), len(providers) == 0
	if !all {
		modules = slices.DeleteFunc(modules, func(m cotter.OutdatedModule) bool { return m.Current == m.Latest && m.Current == m.Allowed })
		providers = slices.DeleteFunc(providers, func(p cotter.OutdatedProvider) bool { return p.Current == p.Latest && p.Current == p.Allowed })
	}
	switch {
	case o.json:
		return o.writeJSON(outdatedOf(modules, providers))
	case len(modules)+len(providers) > 0:
		return o.outdated(modules, providers)
	case !complete:
	case known == 0:
		o.conclude("No module call has versions to compare.")
	case noProviders:
		o.conclude("All modules are at their latest versions.")
	default:
		o.conclude("All modules and providers are at their latest versions.")
	}
	return nil
}

// outdated prints a table.
func (o *output) outdated(modules []cotter.OutdatedModule, providers []cotter.OutdatedProvider) error {
	table := tabwriter.NewWriter(o.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tSOURCE\tCURRENT\tALLOWED\tLATEST\tCALL")
	for _, m := range modules {
		fmt.Fprint(table, escapef("%s\t%s\t%s\t%s\t%s\t%s:%d\n", m.Path, addrs.Redact(m.Source.ForDisplay()),
			dash(m.Current.String()), dash(m.Allowed.String()), dash(m.Latest.String()), m.Call.Range.Filename, m.Call.Range.Start.Line))
	}
	for _, p := range providers {
		fmt.Fprint(table, escapef("-\t%s\t%s\t%s\t%s\t%s\n", p.Provider.ForDisplay(), dash(p.Current.String()), dash(p.Allowed.String()), dash(p.Latest.String()), firstUse(p.RequiredBy)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var pins []cotter.Pin
	for _, m := range modules {
		if m.Pin != nil {
			pins = append(pins, *m.Pin)
		}
	}
	o.proposals(pins)
	return nil
}

func dash(text string) string { return cmp.Or(text, "-") }

// firstUse returns the first place where a provider is required, or "-".
func firstUse(uses []cotter.ProviderRequirement) string {
	if len(uses) == 0 || uses[0].Range.Filename == "" {
		return "-"
	}
	return fmt.Sprintf("%s:%d", uses[0].Range.Filename, uses[0].Range.Start.Line)
}

// jsonOutdated is a call, or a provider, in the output of outdated.
type jsonOutdated struct {
	Key      string `json:"key,omitempty"`
	Source   string `json:"source,omitempty"`
	Provider string `json:"provider,omitempty"`
	Current  string `json:"current,omitempty"`
	Allowed  string `json:"allowed,omitempty"`
	Latest   string `json:"latest,omitempty"`
	// Tag is the tag in the source address, if it has one.
	Tag string `json:"tag,omitempty"`
	// LatestTag is the newest tag.
	LatestTag string `json:"latest_tag,omitempty"`

	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

func outdatedOf(modules []cotter.OutdatedModule, providers []cotter.OutdatedProvider) record {
	calls := []jsonOutdated{}
	for _, m := range modules {
		call := jsonOutdated{
			Key: m.Path.String(), Source: addrs.Redact(m.Source.String()), Current: m.Current.String(), Allowed: m.Allowed.String(), Latest: m.Latest.String(),
			File: m.Call.Range.Filename, Line: m.Call.Range.Start.Line,
		}
		if m.Pin != nil {
			call.Tag, call.LatestTag = m.Pin.Tag, m.Pin.LatestTag
		}
		calls = append(calls, call)
	}
	for _, p := range providers {
		call := jsonOutdated{Provider: p.Provider.String(), Current: p.Current.String(), Allowed: p.Allowed.String(), Latest: p.Latest.String()}
		if len(p.RequiredBy) > 0 {
			call.File, call.Line = p.RequiredBy[0].Range.Filename, p.RequiredBy[0].Range.Start.Line
		}
		calls = append(calls, call)
	}
	return outdatedRecord{calls}
}
