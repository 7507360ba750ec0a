package main

import (
	"context"
	"os"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/cliconfig"
)

// cliConfig reads the CLI configuration of the stock tool whose project this
// is. Where nobody says which it is, that is tofu's, which takes in terraform's
// where there is none of its own.
func cliConfig(ctx context.Context, out *output, dialect cotter.Dialect) (*cliconfig.Config, error) {
	home, _ := os.UserHomeDir() // without one, there are no files in it
	source := cliconfig.Source{
		Environ:   os.Environ(),
		Home:      home,
		Terraform: dialect == cotter.DialectTerraform,
		Warn:      func(text string) { out.warnf("%s", text) },
	}
	config, diags := source.Load(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	for _, diag := range diags {
		out.warnf("%s: %s", diag.Summary, diag.Detail)
	}
	return config, nil
}

// credentials are those of the CLI configuration, for requests to registries.
type credentials struct{ config *cliconfig.Config }

// ForHost makes credentials a disco.CredentialsSource.
func (c credentials) ForHost(ctx context.Context, host addrs.Hostname) (disco.Credentials, error) {
	token, ok, err := c.config.Token(ctx, host)
	if !ok {
		return nil, err
	}
	return disco.BearerToken(token.Secret()), nil
}

// forRepository makes credentials a getmodules.OCICredentials.
func (c credentials) forRepository(ctx context.Context, host, repository string) (getmodules.OCICredential, error) {
	found, err := c.config.OCICredentials(ctx, host, repository)
	return getmodules.OCICredential{
		Username:     found.Username,
		Password:     found.Password.Secret(),
		RefreshToken: found.RefreshToken.Secret(),
		AccessToken:  found.AccessToken.Secret(),
	}, err
}
