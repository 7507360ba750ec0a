package cliconfig

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/cliconfig/hcl1"
)

// ociGroups are the arguments of an oci_credentials block. It has all of one
// group and none of the others.
var ociGroups = [...][]string{{"username", "password"}, {"access_token", "refresh_token"}, {"docker_credentials_helper"}}

func (d *decoder) ociCredentials(label hcl1.Item, body hcl1.Object) {
	prefix, ok := parseRepository(label.Key)
	if !ok {
		d.fault(label.Pos, "The label of an oci_credentials block is the host of a registry, with the path of a repository behind it or without: %q is neither.", label.Key)
		return
	}
	if slices.ContainsFunc(d.config.oci.blocks, func(b ociBlock) bool { return b.prefix == prefix }) {
		d.fault(label.Pos, "There is an oci_credentials block for %q already.", label.Key)
		return
	}
	values, ok := d.ociGroup(label, body)
	if !ok {
		return
	}
	secret := ociSecret{helper: values["docker_credentials_helper"]}
	secret.credentials.Username = values["username"]
	for name, field := range map[string]*Token{
		"password":      &secret.credentials.Password,
		"access_token":  &secret.credentials.AccessToken,
		"refresh_token": &secret.credentials.RefreshToken,
	} {
		if value, ok := values[name]; ok {
			*field = NewToken(value)
		}
	}
	if _, ok := values["docker_credentials_helper"]; ok {
		if prefix.path != "" {
			d.fault(label.Pos, "A docker_credentials_helper is for whole hosts, and %q has a path.", label.Key)
			return
		}
		if !d.helperName(label.Pos, secret.helper) {
			return
		}
	}
	d.config.oci.blocks = append(d.config.oci.blocks, ociBlock{prefix, secret})
}

// ociGroup reads the arguments of the one group that a block has.
func (d *decoder) ociGroup(label hcl1.Item, body hcl1.Object) (map[string]string, bool) {
	values := map[string]string{}
	groups, wanted := 0, 0
	for _, group := range ociGroups {
		before := len(values)
		for _, name := range group {
			if value, ok := d.text(label.Pos, body, name); ok {
				values[name] = value
			}
		}
		if len(values) > before {
			groups, wanted = groups+1, len(group)
		}
	}
	if groups != 1 || len(values) != wanted {
		d.fault(label.Pos, "An oci_credentials block has either username and password, or access_token and refresh_token, or docker_credentials_helper.")
		return nil, false
	}
	return values, true
}

func (d *decoder) ociDefaults(at hcl1.Pos, body hcl1.Object) {
	if d.config.oci.defaults != nil {
		d.fault(at, "There is an oci_default_credentials block already, and only one is allowed.")
		return
	}
	defaults := new(ociDefaults)
	if discover, ok := d.boolean(at, body, "discover_ambient_credentials"); ok {
		defaults.noAmbient = !discover
	}
	if names, ok := d.texts(at, body, "docker_style_config_files"); ok {
		defaults.files = make([]dockerFile, 0, len(names)) // none at all is a choice too
		for _, name := range names {
			if !filepath.IsAbs(name) {
				name = filepath.Join(filepath.Dir(d.name), name)
			}
			defaults.files = append(defaults.files, dockerFile{name: name, named: true})
		}
		if defaults.noAmbient {
			d.fault(at, "docker_style_config_files says where to discover credentials, and discover_ambient_credentials not to.")
		}
	}
	if name, ok := d.text(at, body, "docker_credentials_helper"); ok && d.helperName(at, name) {
		defaults.helper = name
	}
	d.config.oci.defaults = defaults
}

// helperName reports whether a name can be the last part of a program's.
func (d *decoder) helperName(at hcl1.Pos, name string) bool {
	if name == "" || strings.ContainsAny(name, "/\\\x00") {
		d.fault(at, "A docker_credentials_helper is the last part of the name of a program: %s<name>.", dockerPrefix)
		return false
	}
	return true
}
