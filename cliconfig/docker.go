package cliconfig

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// dockerConfig is the part of the files of Docker and Podman with credentials (containers-auth.json(5)).
type dockerConfig struct {
	name        string
	Auths       map[string]dockerAuth `json:"auths"`
	CredHelpers map[string]string     `json:"credHelpers"`
	CredsStore  string                `json:"credsStore"`
}

// dockerAuth is empty if a helper has the credentials.
type dockerAuth struct {
	Auth          string `json:"auth"` // base64 of USERNAME:PASSWORD
	IdentityToken string `json:"identitytoken"`
}

// readDockerFiles reads the files that exist. It skips a file that the user did not name and may not read,
// with a warning.
func readDockerFiles(ctx context.Context, files []file, warn func(string)) ([]ociSource, error) {
	var sources []ociSource
	for _, file := range files {
		config, err := readDockerFile(ctx, file.name)
		switch {
		case err == nil:
			sources = append(sources, config)
		case atomicfile.IsAbsent(err) && !file.named:
		case errors.Is(err, fs.ErrPermission) && !file.named:
			warn(fmt.Sprintf("The credentials for OCI registries in %q cannot be read and are skipped: %s", file.name, reason(err)))
		default:
			return nil, fmt.Errorf("the credentials for OCI registries in %q cannot be read: %w", file.name, reason(err))
		}
	}
	return sources, nil
}

func readDockerFile(ctx context.Context, name string) (*dockerConfig, error) {
	src, err := atomicfile.ReadUser(ctx, name, maxFile)
	if err != nil {
		return nil, err
	}
	config := &dockerConfig{name: name}
	if len(bytes.TrimSpace(src)) == 0 { // for example a link to /dev/null
		return config, nil
	}
	if err := hcldepth.CheckJSON(src, hcldepth.MaxTokens); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(src, config); err != nil { // the error could quote a secret
		return nil, errors.New("it is not the JSON of such a file")
	}
	return config, nil
}

func (c *dockerConfig) match(want repository) (ociSecret, specificity) {
	key, found := c.entry(want)
	if helper := c.helper(want.host); helper != "" && found < wholeHost {
		return ociSecret{helper: helper}, wholeHost
	}
	if found != noMatch {
		login, err := c.Auths[key].login()
		if err != nil {
			err = fmt.Errorf("%q: the entry for %q %w", c.name, key, err)
		}
		return ociSecret{login: login, err: err, file: c.name}, found
	}
	if c.CredsStore != "" {
		return ociSecret{helper: c.CredsStore}, everywhere
	}
	return ociSecret{}, noMatch
}

// entry returns the key of the most specific static credentials. Other tools use other keys, such as URLs.
func (c *dockerConfig) entry(want repository) (best string, highest specificity) {
	for _, key := range slices.Sorted(maps.Keys(c.Auths)) {
		prefix, ok := parseRepository(key)
		if !ok || c.Auths[key] == (dockerAuth{}) {
			continue
		}
		if found := prefix.covers(want); found > highest {
			best, highest = key, found
		}
	}
	return best, highest
}

func (c *dockerConfig) helper(host string) string {
	for _, key := range slices.Sorted(maps.Keys(c.CredHelpers)) {
		if strings.EqualFold(key, host) {
			return c.CredHelpers[key]
		}
	}
	return ""
}

func (a dockerAuth) login() (ociLogin, error) {
	if a.IdentityToken != "" {
		return ociLogin{refreshToken: sanitize.NewSecret(a.IdentityToken)}, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(a.Auth)
	username, password, ok := strings.Cut(string(decoded), ":")
	if err != nil || !ok { // the error could quote a secret
		return ociLogin{}, errors.New("is not the base64 form of a user name, a colon and a password")
	}
	return ociLogin{username: username, password: sanitize.NewSecret(password)}, nil
}

const (
	// dockerPrefix begins the names of helpers: https://github.com/docker/docker-credential-helpers.
	dockerPrefix = "docker-credential-"
	// dockerNotFound is what a helper prints to stdout if it has no credentials for a server.
	dockerNotFound = "credentials not found in native keychain"
	// dockerTokenUser is the user name if the secret is a refresh token.
	dockerTokenUser = "<token>"
)

// dockerQuestion asks one of Docker's helpers for the credentials for a host.
type dockerQuestion struct{ helper, host string }

// ask asks for the URL of the host, and then for the host alone, which is all that some helpers know.
func (q dockerQuestion) ask(ctx context.Context, p programs) (ociLogin, error) {
	if strings.ContainsAny(q.helper, "/\\\x00") {
		return ociLogin{}, fmt.Errorf("%q cannot be the name of a credentials helper", q.helper)
	}
	program, err := p.onPath(dockerPrefix + q.helper)
	if err != nil {
		return ociLogin{}, fmt.Errorf("the credentials helper of %q: %w", q.host, err)
	}
	login, err := q.askFor(ctx, p, program, "https://"+q.host)
	if login != (ociLogin{}) || ctx.Err() != nil {
		return login, err
	}
	if other, failed := q.askFor(ctx, p, program, q.host); failed == nil && (err != nil || other != (ociLogin{})) {
		return other, nil
	}
	return login, err
}

func (q dockerQuestion) askFor(ctx context.Context, p programs, program, server string) (ociLogin, error) {
	out, err := p.run(ctx, program, []string{"get"}, server)
	failed, isRun := errors.AsType[*runError](err)
	_, isExit := errors.AsType[*exec.ExitError](err)
	if isRun && isExit && strings.TrimSpace(string(failed.output)) == dockerNotFound {
		return ociLogin{}, nil
	}
	if err != nil {
		return ociLogin{}, fmt.Errorf("the credentials helper of %q: %w", q.host, err)
	}
	var answer struct{ Username, Secret string }
	if err := json.Unmarshal(out, &answer); err != nil { // the error could quote a secret
		return ociLogin{}, fmt.Errorf("the credentials helper of %q: %w", q.host, errNotJSON)
	}
	if answer.Username == dockerTokenUser {
		return ociLogin{refreshToken: sanitize.NewSecret(answer.Secret)}, nil
	}
	return ociLogin{username: answer.Username, password: sanitize.NewSecret(answer.Secret)}, nil
}
