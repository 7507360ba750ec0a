package cliconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/nesting"
)

// add adds what a file says.
func (c *Config) add(name string, src []byte) hcl.Diagnostics {
	if filepath.Ext(name) == ".json" || bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) {
		return c.addJSON(name, src)
	}
	if err := nesting.CheckHCL(src, nesting.DefaultLimit); err != nil {
		return hcl.Diagnostics{diagnostic(hcl.DiagError, "The CLI configuration file cannot be read", name, err)}
	}
	parsed, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return withoutText(diags)
	}
	for _, block := range parsed.Body.(*hclsyntax.Body).Blocks {
		if block.Type == "credentials" || block.Type == "host" {
			diags = append(diags, c.addBlock(block)...)
		}
	}
	return diags
}

// withoutText takes what messages may quote of a file out of them: it may be
// part of a token.
func withoutText(diags hcl.Diagnostics) hcl.Diagnostics {
	var clean hcl.Diagnostics
	for _, diag := range diags {
		clean = append(clean, &hcl.Diagnostic{Severity: diag.Severity, Summary: diag.Summary, Subject: diag.Subject})
	}
	return clean
}

func (c *Config) addBlock(block *hclsyntax.Block) hcl.Diagnostics {
	where := block.DefRange()
	if len(block.Labels) != 1 {
		return hcl.Diagnostics{fault(&where, fmt.Sprintf("A %s block has one label: the host that it is for.", block.Type))}
	}
	host, err := addrs.ParseHostname(block.Labels[0])
	if err != nil {
		return hcl.Diagnostics{fault(&where, err.Error())}
	}
	if block.Type == "credentials" {
		if token, ok := literal(block.Body.Attributes["token"]); ok && token.Type() == cty.String {
			c.Tokens[host] = Token{token.AsString()}
		}
		return nil
	}
	services, ok := literal(block.Body.Attributes["services"])
	if !ok || !services.CanIterateElements() {
		return hcl.Diagnostics{fault(&where, "A host block has an argument \"services\": an object of service identifiers and URLs.")}
	}
	values := make(map[string]any)
	for it := services.ElementIterator(); it.Next(); {
		id, value := it.Element()
		if value.Type() == cty.String && id.Type() == cty.String {
			values[id.AsString()] = value.AsString()
		}
	}
	c.Services[host] = values
	return nil
}

// literal is the value of an argument that refers to nothing.
func literal(attribute *hclsyntax.Attribute) (cty.Value, bool) {
	if attribute == nil {
		return cty.NilVal, false
	}
	value, diags := attribute.Expr.Value(nil)
	return value, !diags.HasErrors() && value.IsWhollyKnown() && !value.IsNull()
}

func fault(where *hcl.Range, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid CLI configuration", Detail: detail, Subject: where}
}

// jsonFile is a file in JSON syntax, such as the credentials.tfrc.json that
// "tofu login" writes.
type jsonFile struct {
	Credentials map[string]struct {
		Token *string `json:"token"`
	} `json:"credentials"`
	Host map[string]struct {
		Services map[string]any `json:"services"`
	} `json:"host"`
}

func (c *Config) addJSON(name string, src []byte) hcl.Diagnostics {
	bad := func(err error) hcl.Diagnostics {
		return hcl.Diagnostics{diagnostic(hcl.DiagError, "Invalid CLI configuration", name, err)}
	}
	if err := nesting.CheckJSON(src, nesting.DefaultLimit); err != nil {
		return bad(err)
	}
	var file jsonFile
	if err := json.Unmarshal(src, &file); err != nil {
		return bad(errors.New("it is not the JSON of a CLI configuration")) // the error could quote a token
	}
	for label, credentials := range file.Credentials {
		host, err := addrs.ParseHostname(label)
		if err != nil {
			return bad(err)
		}
		if credentials.Token != nil {
			c.Tokens[host] = Token{*credentials.Token}
		}
	}
	for label, block := range file.Host {
		host, err := addrs.ParseHostname(label)
		if err != nil {
			return bad(err)
		}
		c.Services[host] = block.Services
	}
	return nil
}
