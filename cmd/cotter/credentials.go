package main

import (
	"context"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cliconfig"
)

// cliConfig reads the CLI configuration of the stock tool that the project is for. If the
// tool is not known, it reads the configuration of tofu, which falls back to terraform's
// files if tofu has none.
func cliConfig(ctx context.Context, out *output, dialect cotter.Dialect) (*cliconfig.Config, error) {
	config, diags := cliconfig.OSEnvironment().Load(ctx, cliconfig.Options{
		Terraform: dialect == cotter.DialectTerraform,
		Warn:      func(text string) { out.warnf("%s", text) },
	})
	if diags.HasErrors() {
		return nil, diags
	}
	for _, diag := range diags {
		out.warnf("%s: %s", diag.Summary, diag.Detail)
	}
	return config, nil
}
