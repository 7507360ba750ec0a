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
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/hcldepth"
	"github.com/cotterpin/cotter/internal/userfile"
)

// dockerFile is a file to read. One that was named must be there.
type dockerFile file

// dockerConfig is what the configuration files of Docker and Podman say about
// credentials (containers-auth.json(5)).
type dockerConfig struct {
	name        string
	Auths       map[string]dockerAuth `json:"auths"`
	CredHelpers map[string]string     `json:"credHelpers"`
	CredsStore  string                `json:"credsStore"`
}

// dockerAuth is empty where a helper has the credentials.
type dockerAuth struct {
	Auth          string `json:"auth"` // base64 of USERNAME:PASSWORD
	IdentityToken string `json:"identitytoken"`
}

// dockerFiles are the places of such files, the best one first.
func (s Source) dockerFiles() []dockerFile {
	var files []dockerFile
	add := func(parts ...string) {
		name := filepath.Join(parts...)
		if parts[0] != "" && (len(files) == 0 || files[len(files)-1].name != name) {
			files = append(files, dockerFile{name: name})
		}
	}
	dotConfig := ""
	if s.Home != "" {
		dotConfig = filepath.Join(s.Home, ".config")
	}
	switch s.goos() {
	case "linux":
		add(s.lookup("XDG_RUNTIME_DIR"), "containers", "auth.json")
	case "windows", "darwin":
		add(dotConfig, "containers", "auth.json")
	}
	if xdg := s.lookup("XDG_CONFIG_HOME"); xdg != "" {
		dotConfig = xdg
	}
	add(dotConfig, "containers", "auth.json")
	add(s.Home, ".docker", "config.json")
	add(s.Home, ".dockercfg")
	return files
}

// readDockerFiles reads those files that exist. It skips those that the user
// did not name and has no right to read, with a warning.
func readDockerFiles(ctx context.Context, files []dockerFile, warn func(string)) ([]ociSource, error) {
	var sources []ociSource
	for _, file := range files {
		config, err := readDockerFile(ctx, file.name)
		switch {
		case err == nil:
			sources = append(sources, config)
		case userfile.Absent(err) && !file.named:
		case errors.Is(err, fs.ErrPermission) && !file.named:
			if warn != nil {
				warn(fmt.Sprintf("The credentials for OCI registries in %q cannot be read and are skipped: %s", file.name, reason(err)))
			}
		default:
			return nil, fmt.Errorf("the credentials for OCI registries in %q cannot be read: %w", file.name, reason(err))
		}
	}
	return sources, nil
}

func readDockerFile(ctx context.Context, name string) (*dockerConfig, error) {
	src, err := userfile.Read(ctx, name, maxFile)
	if err != nil {
		return nil, err
	}
	config := &dockerConfig{name: name}
	if len(bytes.TrimSpace(src)) == 0 { // such as a link to /dev/null
		return config, nil
	}
	if err := hcldepth.CheckJSON(src); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(src, config); err != nil { // whose words could quote a secret
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
		credentials, err := c.Auths[key].credentials()
		if err != nil {
			err = fmt.Errorf("%q: the entry for %q %w", c.name, key, err)
		}
		return ociSecret{credentials: credentials, err: err}, found
	}
	if c.CredsStore != "" {
		return ociSecret{helper: c.CredsStore}, everywhere
	}
	return ociSecret{}, noMatch
}

// entry is the key of the best static credentials. Keys that are no prefix of a
// repository are for other tools, which write URLs too.
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

// helper is the name of the helper for a host.
func (c *dockerConfig) helper(host string) string {
	for _, key := range slices.Sorted(maps.Keys(c.CredHelpers)) {
		if strings.EqualFold(key, host) {
			return c.CredHelpers[key]
		}
	}
	return ""
}

func (a dockerAuth) credentials() (OCICredentials, error) {
	var found OCICredentials
	if a.IdentityToken != "" {
		found.RefreshToken = NewToken(a.IdentityToken)
		return found, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(a.Auth)
	username, password, ok := strings.Cut(string(decoded), ":")
	if err != nil || !ok { // the error could quote a secret
		return found, errors.New("does not hold the base64 form of a user name, a colon and a password")
	}
	found.Username, found.Password = username, NewToken(password)
	return found, nil
}
