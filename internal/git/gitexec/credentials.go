package gitexec

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/process/singleflight"
)

// maxCredentials bounds the output of helpers, in bytes.
const maxCredentials = 64 << 10

// maxChallenge bounds what helpers are told of a server's demand for credentials, in bytes.
const maxChallenge = 4 << 10

// credentials are asked for once in a run.
type credentials struct {
	found singleflight.Group[credentialKey, *credential]
}

// credentialKey has no path, unless the user has set that credentials depend on it.
type credentialKey struct{ origin, user, path string }

type credential struct {
	none, inAddress bool
	user, password  string
	// helped is the output of the helpers; "" if the credential is from elsewhere.
	helped   string
	remote   string // that of the settings
	approved atomic.Bool
}

func (g *Git) credentialsOf(ctx context.Context) *singleflight.Group[credentialKey, *credential] {
	return &singleflight.For(ctx, &g.credentials).found
}

func (s *Settings) credentialKey(repository *url.URL, user string) credentialKey {
	key := credentialKey{origin: hostname.Origin(repository), user: user}
	if s.useHTTPPath || s.remote != "" {
		key.path = repository.EscapedPath()
	}
	return key
}

// findCredential asks the netrc file, and then the user's helpers. user is that of the address; without a
// password it is a token.
func (g *Git) findCredential(ctx context.Context, remote string, repository *url.URL, user string, challenge http.Header) (*credential, error) {
	if g.Netrc != nil && user == "" {
		found, err := g.Netrc(ctx, &url.URL{Scheme: repository.Scheme, Host: repository.Host, Path: repository.Path})
		if err != nil {
			return nil, err
		}
		if found != nil {
			password, _ := found.Password()
			return &credential{user: found.Username(), password: password}, nil
		}
	}
	asked := "protocol=" + repository.Scheme + "\nhost=" + repository.Host + "\npath=" + strings.TrimPrefix(repository.Path, "/") + "\n"
	if user != "" {
		asked += "username=" + user + "\n"
	}
	if strings.ContainsAny(repository.Host+repository.Path+user, "\n\x00") {
		return nil, errors.New("git does not accept a user name or path with a line break")
	}
	for _, demand := range challenge.Values("WWW-Authenticate") {
		if len(asked)+len(demand) < maxChallenge && !strings.ContainsAny(demand, "\r\n\x00") {
			asked += "wwwauth[]=" + demand + "\n"
		}
	}
	helped, err := g.credentialHelpers(ctx, remote, "fill", asked)
	c := &credential{helped: helped, remote: remote}
	for line := range strings.Lines(helped) {
		switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "="); key {
		case "username":
			c.user = value
		case "password":
			c.password = value
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && user != "":
		return &credential{user: user}, nil
	case err != nil || c.user == "" && c.password == "":
		return &credential{none: true}, nil
	}
	return c, nil
}

// credentialHelpers runs "git credential" outside of any repository: the configuration of a checkout or
// of a cache has no say in who gets credentials.
func (g *Git) credentialHelpers(ctx context.Context, remote, verb, input string) (string, error) {
	command := Command{Args: []string{"credential", verb}, Network: &Network{Remote: remote}, Input: input + "\n"}
	out, err := g.Output(ctx, command, maxCredentials)
	return string(out), err
}

// approve tells the helpers once that a credential has worked. The result waits until they know.
func (g *Git) approve(ctx context.Context, c *credential) (wait func()) {
	if c.helped == "" || c.approved.Swap(true) {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = g.credentialHelpers(ctx, c.remote, "approve", c.helped) // git ignores failures, too
	}()
	return func() { <-done }
}

func (g *Git) reject(ctx context.Context, c *credential) {
	if c.helped != "" {
		_, _ = g.credentialHelpers(ctx, c.remote, "reject", c.helped)
	}
}
