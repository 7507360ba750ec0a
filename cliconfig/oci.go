package cliconfig

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// OCICredentials returns the credential for a repository, such as "team/network", of the registry HOST or
// HOST:PORT, as in the source address, or the zero value if nothing matches. The most specific credential
// counts: for the repository, for one of its parents, for the host, or the default. Of equally specific
// ones the first counts, and the configuration comes before Docker's files. A helper is run once for each
// host. The error is ctx's, or says without secrets which file or helper is broken.
//
// OCICredentials is a [getmodules.OCICredentials].
func (c *Config) OCICredentials(ctx context.Context, host, path string) (getmodules.OCICredential, error) {
	login, _, err := c.ociLogin(ctx, host, path)
	return login.reveal(), err
}

// ociLogin is OCICredentials with hidden secrets and their place.
func (c *Config) ociLogin(ctx context.Context, host, path string) (ociLogin, Place, error) {
	want := repository{strings.ToLower(host), path}
	ambient, err := c.oci.readAmbient(ctx, c.warn)
	if err != nil {
		return ociLogin{}, Place{}, err
	}
	var best ociSecret
	highest := noMatch
	for _, source := range append(c.oci.sources(), ambient...) {
		if found, match := source.match(want); match > highest {
			best, highest = found, match
		}
	}
	if best.helper == "" {
		return best.login, Place{PlaceFile, best.file}, best.err
	}
	question := dockerQuestion{best.helper, want.host}
	login, err := singleflight.For(ctx, &c.ociAnswers).Do(ctx, question, func(ctx context.Context) (ociLogin, error) {
		return question.ask(ctx, c.programs)
	})
	return login, Place{PlaceHelper, dockerPrefix + best.helper}, err
}

// ociLogin is a getmodules.OCICredential with hidden secrets.
type ociLogin struct {
	username                            string
	password, accessToken, refreshToken sanitize.Secret
}

func (l ociLogin) reveal() getmodules.OCICredential {
	return getmodules.OCICredential{
		Username:     l.username,
		Password:     l.password.Reveal(),
		AccessToken:  l.accessToken.Reveal(),
		RefreshToken: l.refreshToken.Reveal(),
	}
}

type ociConfig struct {
	blocks   []ociBlock
	defaults *ociDefaults
	files    []file // of Docker and Podman
	ambient  lazy[[]ociSource]
}

type ociSource interface {
	match(want repository) (ociSecret, specificity)
}

// ociSecret is a login, the name of the helper that has it, or the error of the place that should have it.
type ociSecret struct {
	login  ociLogin
	helper string
	err    error
	file   string // the file with the login
}

type ociBlock struct {
	prefix repository
	ociSecret
}

func (b ociBlock) match(want repository) (ociSecret, specificity) {
	return b.ociSecret, b.prefix.covers(want)
}

type ociDefaults struct {
	helper    string
	noAmbient bool
	files     []file // replace the usual files; nil means the usual files
}

func (d *ociDefaults) match(repository) (ociSecret, specificity) {
	if d.helper == "" {
		return ociSecret{}, noMatch
	}
	return ociSecret{helper: d.helper}, everywhere
}

func (o *ociConfig) sources() []ociSource {
	var sources []ociSource
	for _, block := range o.blocks {
		sources = append(sources, block)
	}
	if o.defaults != nil {
		sources = append(sources, o.defaults)
	}
	return sources
}

// readAmbient returns the content of Docker's files. Few configurations use OCI registries, so they are
// read at the first call.
func (o *ociConfig) readAmbient(ctx context.Context, warn func(string)) ([]ociSource, error) {
	files := o.files
	if d := o.defaults; d != nil {
		if d.noAmbient {
			return nil, nil
		}
		if d.files != nil {
			files = d.files
		}
	}
	return o.ambient.get(ctx, func(ctx context.Context) ([]ociSource, error) {
		return readDockerFiles(ctx, files, warn)
	})
}

// repository is an OCI repository or, as a prefix, all below a path; "" is the whole host, which is in
// lower case with its port.
type repository struct{ host, path string }

// specificity says how closely an entry matches a repository. Each segment of a path adds one.
type specificity int

const (
	noMatch specificity = iota
	everywhere
	wholeHost
)

// repositoryPattern is HOST[:PORT][/PATH], with the path of the OCI distribution specification.
var repositoryPattern = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)

func parseRepository(s string) (repository, bool) {
	if !repositoryPattern().MatchString(s) {
		return repository{}, false
	}
	host, path, _ := strings.Cut(s, "/")
	return repository{strings.ToLower(host), path}, true
}

// covers returns how closely r, as a prefix, matches a repository, by host with port and by whole segments.
func (r repository) covers(want repository) specificity {
	switch {
	case r.host != want.host:
		return noMatch
	case r.path == "":
		return wholeHost
	case r.path == want.path || strings.HasPrefix(want.path, r.path+"/"):
		return wholeHost + 1 + specificity(strings.Count(r.path, "/"))
	}
	return noMatch
}

// ociGroups are the arguments of an oci_credentials block, which has all of exactly one group.
var ociGroups = [...][]string{{"username", "password"}, {"access_token", "refresh_token"}, {"docker_credentials_helper"}}

func (d *decoder) ociCredentials(label item, body object) {
	prefix, ok := parseRepository(label.key)
	if !ok {
		d.fault(label.at, "The label of an oci_credentials block is the host of a registry, with or without the path of a repository: %q is neither.", label.key)
		return
	}
	if slices.ContainsFunc(d.config.oci.blocks, func(b ociBlock) bool { return b.prefix == prefix }) {
		d.fault(label.at, "There is an oci_credentials block for %q already.", label.key)
		return
	}
	values, ok := d.ociGroup(label, body)
	if !ok {
		return
	}
	found := ociSecret{helper: values["docker_credentials_helper"], file: d.name, login: ociLogin{
		username:     values["username"],
		password:     sanitize.NewSecret(values["password"]),
		accessToken:  sanitize.NewSecret(values["access_token"]),
		refreshToken: sanitize.NewSecret(values["refresh_token"]),
	}}
	if _, ok := values["docker_credentials_helper"]; ok {
		if prefix.path != "" {
			d.fault(label.at, "A docker_credentials_helper is for whole hosts, and %q has a path.", label.key)
			return
		}
		if !d.helperName(label.at, found.helper) {
			return
		}
	}
	d.config.oci.blocks = append(d.config.oci.blocks, ociBlock{prefix, found})
}

func (d *decoder) ociGroup(label item, body object) (map[string]string, bool) {
	values := map[string]string{}
	groups, wanted := 0, 0
	for _, group := range ociGroups {
		before := len(values)
		for _, name := range group {
			if value, ok := d.text(label.at, body, name); ok {
				values[name] = value
			}
		}
		if len(values) > before {
			groups, wanted = groups+1, len(group)
		}
	}
	if groups != 1 || len(values) != wanted {
		d.fault(label.at, "An oci_credentials block has either username and password, or access_token and refresh_token, or docker_credentials_helper.")
		return nil, false
	}
	return values, true
}

func (d *decoder) ociDefaults(at hcl.Pos, body object) {
	if d.config.oci.defaults != nil {
		d.fault(at, "There is an oci_default_credentials block already, and only one is allowed.")
		return
	}
	defaults := new(ociDefaults)
	if discover, ok := d.boolean(at, body, "discover_ambient_credentials"); ok {
		defaults.noAmbient = !discover
	}
	if names, ok := d.texts(at, body, "docker_style_config_files"); ok {
		defaults.files = make([]file, 0, len(names)) // an empty list is a valid choice
		for _, name := range names {
			if !filepath.IsAbs(name) {
				name = filepath.Join(filepath.Dir(d.name), name)
			}
			defaults.files = append(defaults.files, file{name: name, named: true})
		}
		if defaults.noAmbient {
			d.fault(at, "docker_style_config_files names files in which to discover credentials, and discover_ambient_credentials is false.")
		}
	}
	if name, ok := d.text(at, body, "docker_credentials_helper"); ok && d.helperName(at, name) {
		defaults.helper = name
	}
	d.config.oci.defaults = defaults
}

func (d *decoder) helperName(at hcl.Pos, name string) bool {
	if name == "" || strings.ContainsAny(name, "/\\\x00") {
		d.fault(at, "A docker_credentials_helper is the last part of the name of a program: %s<name>.", dockerPrefix)
		return false
	}
	return true
}
