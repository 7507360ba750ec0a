package cliconfig

import (
	"context"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
)

// The kinds of a [Place].
const (
	PlaceVariable = "variable"
	PlaceFile     = "file"
	PlaceHelper   = "helper"
)

// Place is the place where credentials were found. It contains no part of the credentials.
// The zero value means that there are no credentials.
type Place struct {
	// Kind is PlaceVariable, PlaceFile or PlaceHelper; "" if there are no credentials.
	Kind string
	// Name is the name of the variable, of the file, or of the helper program.
	Name string
}

// TokenPlace returns the place where [Config.Token] finds the token for a host. The error
// is as for Token.
func (c *Config) TokenPlace(ctx context.Context, host addrs.Hostname) (Place, error) {
	found, err := c.credentials(ctx, host)
	if err != nil || found.none {
		return Place{}, err
	}
	return found.place, nil
}

// HTTPPlace returns the place where [Config.HTTPCredentials] finds the credentials for a
// URL. The error is as for HTTPCredentials.
func (c *Config) HTTPPlace(ctx context.Context, at *url.URL) (Place, error) {
	user, err := c.HTTPCredentials(ctx, at)
	if err != nil || user == nil {
		return Place{}, err
	}
	return Place{PlaceFile, c.netrcFile.name}, nil
}

// OCIPlace returns the place where [Config.OCICredentials] finds the credential for a
// repository. The error is as for OCICredentials.
func (c *Config) OCIPlace(ctx context.Context, host, path string) (Place, error) {
	login, place, err := c.ociLogin(ctx, host, path)
	if err != nil || login == (ociLogin{}) {
		return Place{}, err
	}
	return place, nil
}
