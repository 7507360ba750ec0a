package cliconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	// dockerPrefix begins the names of Docker's helper programs:
	// https://github.com/docker/docker-credential-helpers.
	dockerPrefix = "docker-credential-"
	// dockerNotFound is what they all print, on stdout, when they fail because
	// they know nothing about a server.
	dockerNotFound = "credentials not found in native keychain"
	// dockerTokenUser takes the place of a user name where the secret is a
	// refresh token.
	dockerTokenUser = "<token>"
)

// dockerQuestion is for one of Docker's helpers: the credentials for a host.
type dockerQuestion struct{ helper, host string }

// ask runs the helper.
func (q dockerQuestion) ask(ctx context.Context, p programs) (OCICredentials, error) {
	var none OCICredentials
	if strings.ContainsAny(q.helper, "/\\\x00") {
		return none, fmt.Errorf("%q cannot be the name of a credentials helper", q.helper)
	}
	program, err := p.onPath(dockerPrefix + q.helper)
	if err != nil {
		return none, fmt.Errorf("the credentials helper of %q: %w", q.host, err)
	}
	out, err := p.run(ctx, program, []string{"get"}, "https://"+q.host)
	failed, ok := errors.AsType[*runError](err)
	if ok && isExit(failed.err) && strings.TrimSpace(string(failed.output)) == dockerNotFound {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("the credentials helper of %q: %w", q.host, err)
	}
	var answer struct{ Username, Secret string }
	if err := json.Unmarshal(out, &answer); err != nil { // whose words could quote a secret
		return none, fmt.Errorf("the credentials helper of %q: %w", q.host, errNotJSON)
	}
	if answer.Username == dockerTokenUser {
		return OCICredentials{RefreshToken: NewToken(answer.Secret)}, nil
	}
	return OCICredentials{Username: answer.Username, Password: NewToken(answer.Secret)}, nil
}
