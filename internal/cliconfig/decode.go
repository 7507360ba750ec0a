package cliconfig

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/cliconfig/hcl1"
)

// decoder adds one file to a Config.
type decoder struct {
	config *Config
	name   string
	diags  hcl.Diagnostics
	// protocols says that the file has had its registry_protocols block.
	protocols bool
}

// fault reports an error at a place. The detail must not quote values.
func (d *decoder) fault(at hcl1.Pos, format string, args ...any) {
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Invalid CLI configuration",
		Detail:   fmt.Sprintf(format, args...),
		Subject: &hcl.Range{
			Filename: d.name,
			Start:    hcl.Pos{Line: at.Line, Column: at.Column},
			End:      hcl.Pos{Line: at.Line, Column: at.Column},
		},
	})
}

// file reads the blocks that are ours.
func (d *decoder) file(object hcl1.Object) {
	for _, block := range object {
		switch block.Key {
		case "credentials":
			d.labelled(block, d.credentials)
		case "credentials_helper":
			d.labelled(block, d.helper)
		case "host":
			d.labelled(block, d.host)
		case "oci_credentials":
			d.labelled(block, d.ociCredentials)
		case "oci_default_credentials":
			d.unlabelled(block, d.ociDefaults)
		case "registry_protocols":
			d.unlabelled(block, d.registryProtocols)
		}
	}
}

// labelled calls decode with the body of each block of a type with one label.
func (d *decoder) labelled(block hcl1.Item, decode func(label hcl1.Item, body hcl1.Object)) {
	labels, ok := hcl1.Entries(block.Value)
	if !ok {
		d.fault(block.Pos, "%q has to be a block.", block.Key)
		return
	}
	for _, label := range labels {
		body, ok := hcl1.Entries(label.Value)
		if !ok {
			d.fault(label.Pos, "A %s block has one label, in front of its \"{\".", block.Key)
			continue
		}
		decode(label, body)
	}
}

func (d *decoder) unlabelled(block hcl1.Item, decode func(at hcl1.Pos, body hcl1.Object)) {
	body, ok := hcl1.Entries(block.Value)
	if !ok {
		d.fault(block.Pos, "%q has to be a block.", block.Key)
		return
	}
	decode(block.Pos, body)
}

// hostname is the host that a label names.
func (d *decoder) hostname(label hcl1.Item) (addrs.Hostname, bool) {
	host, err := addrs.ParseHostname(label.Key)
	if err != nil {
		d.fault(label.Pos, "The label is not a host: %s.", err)
		return "", false
	}
	return host, true
}

func (d *decoder) credentials(label hcl1.Item, body hcl1.Object) {
	host, ok := d.hostname(label)
	if !ok {
		return
	}
	value, _ := body.Last("token")
	token, ok := value.(string)
	// Without a token this says, as in stock tools, that there is none.
	d.config.files[host] = credentials{token: NewToken(token), none: !ok}
}

func (d *decoder) host(label hcl1.Item, body hcl1.Object) {
	host, ok := d.hostname(label)
	if !ok {
		return
	}
	services := make(map[string]any)
	found := false
	for item := range body.All("services") {
		entries, ok := hcl1.Entries(item.Value)
		if !ok {
			d.fault(item.Pos, "\"services\" is an object of service identifiers and URLs.")
			return
		}
		for _, service := range entries {
			services[service.Key] = service.Value
		}
		found = true
	}
	if !found {
		d.fault(label.Pos, "A host block has an argument \"services\": an object of service identifiers and URLs.")
		return
	}
	d.config.Services[host] = services
}
