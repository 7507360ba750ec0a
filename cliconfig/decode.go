package cliconfig

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

type decoder struct {
	config       *Config
	environment  Environment
	name         string
	diags        hcl.Diagnostics
	hasProtocols bool
	// hasCacheDir is set if a variable or an earlier file sets the plugin cache directory.
	hasCacheDir bool
}

// fault reports an error at a position. It must not quote values, which may be secrets.
func (d *decoder) fault(at hcl.Pos, format string, args ...any) {
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Invalid CLI configuration",
		Detail:   fmt.Sprintf(format, args...),
		Subject:  &hcl.Range{Filename: d.name, Start: at, End: at},
	})
}

func (d *decoder) file(content object) {
	for _, block := range content {
		switch block.key {
		case "credentials":
			d.labeled(block, d.credentials)
		case "credentials_helper":
			d.labeled(block, d.helper)
		case "host":
			d.labeled(block, d.host)
		case "oci_credentials":
			d.labeled(block, d.ociCredentials)
		case "oci_default_credentials":
			d.unlabeled(block, d.ociDefaults)
		case "plugin_cache_dir":
			d.pluginCacheDir(block.at, content)
		case "plugin_cache_may_break_dependency_lock_file":
			d.pluginCacheMayBreak(block.at, content)
		case "provider_installation":
			if block.assigned { // which stock tools refuse
				d.fault(block.at, "%q must be a block, without an equals sign.", block.key)
				continue
			}
			d.unlabeled(block, d.providerInstallation)
		case "registry_protocols":
			d.unlabeled(block, d.registryProtocols)
		}
	}
}

func (d *decoder) labeled(block item, decode func(label item, body object)) {
	labels, ok := entries(block.value)
	if !ok {
		d.fault(block.at, "%q must be a block.", block.key)
		return
	}
	for _, label := range labels {
		body, ok := entries(label.value)
		if !ok {
			d.fault(label.at, "A %s block has one label before its \"{\".", block.key)
			continue
		}
		decode(label, body)
	}
}

func (d *decoder) unlabeled(block item, decode func(at hcl.Pos, body object)) {
	body, ok := entries(block.value)
	if !ok {
		d.fault(block.at, "%q must be a block.", block.key)
		return
	}
	decode(block.at, body)
}

func (d *decoder) hostname(label item) (addrs.Hostname, bool) {
	host, err := addrs.ParseHostname(label.key)
	if err != nil {
		d.fault(label.at, "The label is not a host: %s.", err)
		return "", false
	}
	return host, true
}

// credentials decodes a block. Without a token, the host has no credentials, as in stock tools.
func (d *decoder) credentials(label item, body object) {
	host, ok := d.hostname(label)
	if !ok {
		return
	}
	value, _ := body.last("token")
	token, ok := value.(string)
	d.config.files[host] = credentials{token: sanitize.NewSecret(token), none: !ok, place: Place{PlaceFile, d.name}}
}

func (d *decoder) helper(label item, body object) {
	if label.key == "" || strings.ContainsAny(label.key, `/\`) {
		d.fault(label.at, "The label of a credentials_helper block is the last part of the name of a program: %s<label>.", helperPrefix)
		return
	}
	if h := d.config.helper; h != nil && h.name != label.key {
		d.fault(label.at, "There is a credentials_helper block for %q already, and only one is allowed.", h.name)
		return
	}
	args, _ := d.texts(label.at, body, "args")
	d.config.helper = &helper{name: label.key, args: args}
}

func (d *decoder) host(label item, body object) {
	host, ok := d.hostname(label)
	if !ok {
		return
	}
	services := make(map[string]any)
	found := false
	for _, argument := range body {
		if argument.key != "services" {
			continue
		}
		fields, ok := entries(argument.value)
		if !ok {
			d.fault(argument.at, "\"services\" is an object of service identifiers and URLs.")
			return
		}
		for _, service := range fields {
			services[service.key] = service.value
		}
		found = true
	}
	if !found {
		d.fault(label.at, "A host block has an argument \"services\": an object of service identifiers and URLs.")
		return
	}
	d.config.Services[host] = services
}

// registryProtocols leaves what a variable or an earlier file sets.
func (d *decoder) registryProtocols(at hcl.Pos, body object) {
	if d.hasProtocols {
		d.fault(at, "There is a registry_protocols block already in this file.")
		return
	}
	d.hasProtocols = true
	if n, ok := d.count(at, body, "retry_count", maxRetries); ok && d.config.Attempts == 0 {
		d.config.Attempts = n + 1
	}
	if n, ok := d.count(at, body, "request_timeout_seconds", maxTimeout); ok && d.config.Timeout == 0 {
		d.config.Timeout = time.Duration(n) * time.Second
	}
}

// The methods below decode an argument, and report whether it exists. A value of the wrong type is a fault
// and treated as missing. As in HCL 1, numbers and booleans may be in quotes.

func (d *decoder) text(at hcl.Pos, body object, name string) (string, bool) {
	value, found := body.last(name)
	text, ok := value.(string)
	if found && !ok {
		d.fault(at, "%q must be a string.", name)
	}
	return text, ok
}

func (d *decoder) texts(at hcl.Pos, body object, name string) ([]string, bool) {
	value, found := body.last(name)
	if !found {
		return nil, false
	}
	elements, ok := value.(list)
	texts := make([]string, 0, len(elements))
	for _, element := range elements {
		text, isText := element.(string)
		texts, ok = append(texts, text), ok && isText
	}
	if !ok {
		d.fault(at, "%q must be a list of strings.", name)
	}
	return texts, ok
}

func (d *decoder) boolean(at hcl.Pos, body object, name string) (value, ok bool) {
	written, found := body.last(name)
	switch written := written.(type) {
	case bool:
		return written, true
	case string:
		if value, err := strconv.ParseBool(written); err == nil {
			return value, true
		}
	}
	if found {
		d.fault(at, "%q must be true or false.", name)
	}
	return false, false
}

// count decodes a whole number from 0 to limit, in the notations of Go, as in HCL 1.
func (d *decoder) count(at hcl.Pos, body object, name string, limit int) (int, bool) {
	written, found := body.last(name)
	if !found {
		return 0, false
	}
	digits, ok := written.(string)
	if n, isNumber := written.(number); isNumber {
		digits, ok = string(n), true
	}
	n, err := strconv.ParseInt(digits, 0, 0)
	if !ok || err != nil || n < 0 || n > int64(limit) {
		d.fault(at, "%q must be a whole number from 0 to %d.", name, limit)
		return 0, false
	}
	return int(n), true
}
