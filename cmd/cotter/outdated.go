package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
)

func outdatedCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:        "outdated",
		Usage:       "list the module calls for which there are newer versions",
		Description: "Allowed is the newest version that the call's constraint allows, latest the\nnewest of all. With --all also calls that are up to date are listed.",
		Flags:       configFlags(&cli.BoolFlag{Name: "all", Usage: "list all calls whose source has versions"}, minAgeFlag(), gitBackendFlag()),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return runOutdated(ctx, cmd, out)
		},
	}
}

func runOutdated(ctx context.Context, cmd *cli.Command, out *output) error {
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	if dir, empty := withoutConfiguration(req); empty {
		return noConfigurationError{dir}
	}
	if err := setPolicy(cmd, &req); err != nil {
		return err
	}
	in, err := installer(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	in.OnEvent = out.warning
	list, failed := in.Outdated(ctx, req)
	var shown []cotter.Outdated
	for _, o := range list {
		if cmd.Bool("all") || o.Current != o.Latest || o.Current != o.Allowed {
			shown = append(shown, o)
		}
	}
	switch {
	case out.json:
		err = out.writeJSON(jsonOutdated(shown))
	case len(shown) > 0:
		err = out.outdated(shown)
	case failed != nil:
		// An empty list does not mean that all modules are up to date.
	case len(list) == 0:
		out.printf("No module call has versions to compare.\n")
	default:
		out.printf("All modules are at their latest versions.\n")
	}
	if err != nil {
		return err
	}
	return failed
}

// outdated prints a table.
func (o *output) outdated(list []cotter.Outdated) error {
	table := tabwriter.NewWriter(o.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tSOURCE\tCURRENT\tALLOWED\tLATEST\tCALL")
	for _, m := range list {
		fmt.Fprint(table, escapef("%s\t%s\t%s\t%s\t%s\t%s:%d\n", m.Path, addrs.Redact(m.Source.ForDisplay()),
			dash(m.Current), dash(m.Allowed), dash(m.Latest), m.Call.Range.Filename, m.Call.Range.Start.Line))
	}
	return table.Flush()
}

func dash(version string) string {
	if version == "" {
		return "-"
	}
	return version
}

func jsonOutdated(list []cotter.Outdated) any {
	type jsonCall struct {
		Key     string `json:"key"`
		Source  string `json:"source"`
		Current string `json:"current,omitempty"`
		Allowed string `json:"allowed,omitempty"`
		Latest  string `json:"latest,omitempty"`
		File    string `json:"file"`
		Line    int    `json:"line"`
	}
	calls := []jsonCall{}
	for _, m := range list {
		calls = append(calls, jsonCall{
			m.Path.String(), addrs.Redact(m.Source.String()), m.Current, m.Allowed, m.Latest,
			m.Call.Range.Filename, m.Call.Range.Start.Line,
		})
	}
	return calls
}
