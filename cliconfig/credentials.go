package cliconfig

import (
	"context"
	"net/url"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/sanitize"
	"github.com/cotterpin/cotter/internal/singleflight"
)

// credentials are the credentials that a file, a variable or a helper provides for a host.
type credentials struct {
	token sanitize.Secret
	none  bool
	place Place
}

// Token returns the token for a host, and reports whether there is one. It looks in the
// variables, then in the files, and then runs the credentials helper, once for each host.
// The error is ctx's, or says why the helper failed; it contains no secret.
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

// ForHost returns the result of [Config.Token] as credentials, or nil if there is no token.
// It implements [disco.CredentialsSource].
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

// lazy keeps the content of files that are read when the content is first needed. It also
// keeps errors.
type lazy[V any] struct {
	mu sync.Mutex
	// result is a function because the content contains secrets, and package fmt does not
	// call functions.
	result func() (V, error)
}

// get returns the result of read, or of an earlier read of the same run. It does not keep the
// result if the context has ended.
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
