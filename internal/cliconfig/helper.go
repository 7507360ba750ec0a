package cliconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/cliconfig/hcl1"
)

// helperPrefix begins the file names of credentials helpers.
const helperPrefix = "terraform-credentials-"

// helper is a credentials_helper block.
type helper struct {
	name string
	args []string
}

func (d *decoder) helper(label hcl1.Item, body hcl1.Object) {
	if label.Key == "" || strings.ContainsAny(label.Key, `/\`) {
		d.fault(label.Pos, "The label of a credentials_helper block is the last part of the name of a program: %s<label>.", helperPrefix)
		return
	}
	if h := d.config.helper; h != nil && h.name != label.Key {
		d.fault(label.Pos, "There is a credentials_helper block for %q already, and only one is allowed.", h.name)
		return
	}
	args, _ := d.texts(label.Pos, body, "args")
	d.config.helper = &helper{name: label.Key, args: args}
}

// Token is the token for a host, and whether there is one: from the
// environment, or else from the files, or else from the credentials helper,
// which is asked once for each host. An error is ctx's, or says why the helper
// could not be asked; it holds no secret.
func (c *Config) Token(ctx context.Context, host addrs.Hostname) (token Token, ok bool, err error) {
	for _, known := range []map[addrs.Hostname]credentials{c.environ, c.files} {
		if found, ok := known[host]; ok {
			return found.token, !found.none, nil
		}
	}
	if c.helper == nil {
		return Token{}, false, nil
	}
	found, err := c.answers.do(ctx, host, func(ctx context.Context) (credentials, error) {
		return c.helper.get(ctx, c.programs, host)
	})
	if err != nil {
		return Token{}, false, err
	}
	return found.token, !found.none, nil
}

// get asks the helper for the credentials of a host.
func (h *helper) get(ctx context.Context, p programs, host addrs.Hostname) (credentials, error) {
	var none credentials
	program, err := p.plugin(helperPrefix + h.name)
	if err != nil {
		return none, fmt.Errorf("the credentials helper %q: %w", h.name, err)
	}
	args := append(append([]string{}, h.args...), "get", string(host))
	out, err := p.run(ctx, program, args, "")
	if err != nil {
		return none, fmt.Errorf("the credentials helper %q: %w", h.name, err)
	}
	var object map[string]any
	if err := json.Unmarshal(out, &object); err != nil { // whose words could quote a token
		return none, fmt.Errorf("the credentials helper %q: %w", h.name, errNotJSON)
	}
	token, ok := object["token"].(string)
	return credentials{token: NewToken(token), none: !ok}, nil
}

var errNotJSON = errors.New("what it prints is not a JSON object")
