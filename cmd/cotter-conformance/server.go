package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/conformance"
)

// checkServer tests a server: "module" and "provider" a registry, "oci" an OCI repository.
func checkServer(ctx context.Context, kind string, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("cotter-conformance "+kind, flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "print the report as JSON")
	if err := flags.Parse(args); err != nil {
		return wrongUsage
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(stderr, usage)
		return wrongUsage
	}
	config, err := cliconfig.OSEnvironment().Load(ctx, cliconfig.Options{Warn: func(text string) { fmt.Fprintln(stderr, text) }})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return failure
	}
	report, err := ask(ctx, kind, flags.Arg(0), conformance.Client{Credentials: config, OCICredentials: config.OCICredentials})
	if err != nil {
		fmt.Fprintln(stderr, err)
		if errors.Is(err, errAddress) {
			return wrongUsage
		}
		return failure
	}
	if err := printReport(stdout, report, *asJSON); err != nil {
		fmt.Fprintln(stderr, err)
		return failure
	}
	if !report.OK() {
		return failure
	}
	return 0
}

// errAddress means that an argument is not the address of something that can be tested.
var errAddress = errors.New("not a full address")

// ask tests a server by its address.
func ask(ctx context.Context, kind, address string, client conformance.Client) (*conformance.Report, error) {
	switch kind {
	case "module":
		source, err := addrs.ParseModuleSourceRegistry(address)
		if err != nil || source.Subdir != "" {
			return nil, fmt.Errorf("%w: %q has not the form HOST/NAMESPACE/NAME/SYSTEM", errAddress, address)
		}
		return client.ModuleRegistry(ctx, source.Package)
	case "provider":
		provider, err := addrs.ParseProviderSource(address)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errAddress, err)
		}
		return client.ProviderRegistry(ctx, provider)
	}
	if !strings.HasPrefix(address, "oci://") {
		return nil, fmt.Errorf("%w: %q has not the form oci://HOST/REPOSITORY", errAddress, address)
	}
	return client.OCIRepository(ctx, address)
}

func printReport(w io.Writer, report *conformance.Report, asJSON bool) error {
	if asJSON {
		text, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", text)
		return err
	}
	rules := map[string]conformance.Rule{}
	for rule := range conformance.Rules() {
		rules[rule.ID] = rule
	}
	for _, v := range report.Violations {
		rule := rules[v.Rule]
		fmt.Fprintf(w, "%s: %s\n    request: %s\n    rule:    %s\n    section: %s\n", v.Rule, v.Message, v.Request, rule.Text, rule.Section)
	}
	_, err := fmt.Fprintf(w, "%s: %d rules checked, %d violations\n", report.Server, len(report.Checked), len(report.Violations))
	return err
}

func printRules(w io.Writer) int {
	section := ""
	for rule := range conformance.Rules() {
		if rule.Section != section {
			section = rule.Section
			fmt.Fprintf(w, "%s\n", section)
		}
		fmt.Fprintf(w, "  %-32s %s\n", rule.ID, rule.Text)
	}
	return 0
}
