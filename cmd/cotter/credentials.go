package main

import (
	"context"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cliconfig"
)

// cliConfig reads the CLI configuration of the stock tool that the project is
// for. If that is not known it is tofu's, which includes terraform's files if
// there are none of tofu's own.
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
