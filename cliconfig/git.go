package cliconfig

import (
	"context"
	"net/url"
)

// GitCredentials returns nil: the configuration of stock tools has no credentials for git, which
// finds its own. It is a getmodules.HTTPCredentials.
func (c *Config) GitCredentials(context.Context, *url.URL) (*url.Userinfo, error) { return nil, nil }
