package cliconfig

import (
	"context"
	"net/url"
)

// GitCredentials is a getmodules.HTTPCredentials that returns nil: git finds its own credentials.
func (c *Config) GitCredentials(context.Context, *url.URL) (*url.Userinfo, error) { return nil, nil }
