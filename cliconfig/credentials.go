package cliconfig

import (
	"context"
	"net/url"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// credentials are the credentials that a file, a variable or a helper provides for a host.
type credentials struct {
	token sanitize.Secret
	none  bool
	place Place
}

// Token returns the token for a host, and whether there is one. It looks in the variables, then in the
// files, and then runs the credentials helper, once for each host. The error is ctx's, or says without
// secrets why the helper failed.
func (c *Config) Token(ctx context.Context, host addrs.Hostname) (token disco.BearerToken, ok bool, err error) {
	found, err := c.credentials(ctx, host)
	if err != nil || found.none {
		return "", false, err
	}
	return disco.BearerToken(found.token.Reveal()), true, nil
}

func (c *Config) credentials(ctx context.Context, host addrs.Hostname) (credentials, error) {
	if found, ok := c.environ[host]; ok {
		return found, nil
	}
	if found, ok := c.files[host]; ok {
		return found, nil
	}
	if c.helper == nil {
		return credentials{none: true}, nil
	}
	return singleflight.For(ctx, &c.helperAnswers).Do(ctx, host, func(ctx context.Context) (credentials, error) {
		return c.helper.get(ctx, c.programs, host)
	})
}

// ForHost implements [disco.CredentialsSource] with [Config.Token].
func (c *Config) ForHost(ctx context.Context, host addrs.Hostname) (disco.Credentials, error) {
	token, ok, err := c.Token(ctx, host)
	if !ok {
		return nil, err
	}
	return token, nil
}

// The kinds of a [Place].
const (
	PlaceVariable = "variable"
	PlaceFile     = "file"
	PlaceHelper   = "helper"
)

// Place is where credentials were found, without any part of them; the zero value if there are none.
type Place struct {
	Kind string
	// Name is that of the variable, the file or the helper program.
	Name string
}

// TokenPlace returns where [Config.Token] finds the token for a host. It has the same errors.
func (c *Config) TokenPlace(ctx context.Context, host addrs.Hostname) (Place, error) {
	found, err := c.credentials(ctx, host)
	if err != nil || found.none {
		return Place{}, err
	}
	return found.place, nil
}

// HTTPPlace returns where [Config.HTTPCredentials] finds the credentials. It has the same errors.
func (c *Config) HTTPPlace(ctx context.Context, at *url.URL) (Place, error) {
	user, err := c.HTTPCredentials(ctx, at)
	if err != nil || user == nil {
		return Place{}, err
	}
	return Place{PlaceFile, c.netrcFile.name}, nil
}

// OCIPlace returns where [Config.OCICredentials] finds the credential. It has the same errors.
func (c *Config) OCIPlace(ctx context.Context, host, path string) (Place, error) {
	login, place, err := c.ociLogin(ctx, host, path)
	if err != nil || login == (ociLogin{}) {
		return Place{}, err
	}
	return place, nil
}

// lazy keeps the content of files that are read when first needed, and errors.
type lazy[V any] struct {
	mu sync.Mutex
	// result is a function because package fmt does not print what it returns, which contains secrets.
	result func() (V, error)
}

// get returns the result of read, or of an earlier read in the same run, unless that read was canceled.
func (l *lazy[V]) get(ctx context.Context, read func(context.Context) (V, error)) (V, error) {
	l = singleflight.For(ctx, l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.result != nil {
		return l.result()
	}
	value, err := read(ctx)
	if ctx.Err() == nil {
		l.result = func() (V, error) { return value, err }
	}
	return value, err
}
