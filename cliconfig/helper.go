package cliconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/secret"
)

// helperPrefix is the prefix of the file names of credentials helpers.
const helperPrefix = "terraform-credentials-"

// helper is a credentials_helper block.
type helper struct {
	name string
	args []string
}

var errNotJSON = errors.New("its output is not a JSON object")

// get runs the helper to get the credentials for a host.
func (h *helper) get(ctx context.Context, p programs, host addrs.Hostname) (credentials, error) {
	program, err := p.plugin(helperPrefix + h.name)
	if err != nil {
		return credentials{}, fmt.Errorf("the credentials helper %q: %w", h.name, err)
	}
	args := append(append([]string{}, h.args...), "get", string(host))
	out, err := p.run(ctx, program, args, "")
	if err != nil {
		return credentials{}, fmt.Errorf("the credentials helper %q: %w", h.name, err)
	}
	var answer map[string]any
	if err := json.Unmarshal(out, &answer); err != nil { // the error could quote a token
		return credentials{}, fmt.Errorf("the credentials helper %q: %w", h.name, errNotJSON)
	}
	token, ok := answer["token"].(string)
	return credentials{token: secret.New(token), none: !ok, place: Place{PlaceHelper, program}}, nil
}
