package cliconfig

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/secret"
)

// ociGroups are the arguments of an oci_credentials block. A block has all arguments of
// exactly one group.
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
	found := ociSecret{helper: values["docker_credentials_helper"], file: d.name}
	found.login.username = values["username"]
	for name, field := range map[string]*secret.Text{
		"password":      &found.login.password,
		"access_token":  &found.login.accessToken,
		"refresh_token": &found.login.refreshToken,
	} {
		if value, ok := values[name]; ok {
			*field = secret.New(value)
		}
	}
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

// ociGroup decodes the arguments of the group that a block has.
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

// helperName reports whether a name can be the last part of a program's name.
func (d *decoder) helperName(at hcl.Pos, name string) bool {
	if name == "" || strings.ContainsAny(name, "/\\\x00") {
		d.fault(at, "A docker_credentials_helper is the last part of the name of a program: %s<name>.", dockerPrefix)
		return false
	}
	return true
}
