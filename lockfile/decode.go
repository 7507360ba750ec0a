package lockfile

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// parser converts blocks to entries.
type parser struct {
	src   []byte
	file  *File
	diags hcl.Diagnostics
	// stopped is set if there are so many errors that the rest of the file is not read.
	stopped bool
}

func (p *parser) fail(subject hcl.Range, summary, format string, args ...any) {
	p.diags = append(p.diags, failure(summary, fmt.Sprintf(format, args...), &subject)...)
}

func (p *parser) module(b *hclsyntax.Block) {
	if len(b.Labels) != 1 {
		p.fail(b.DefRange(), "Invalid module block", "A module block has one label, the dotted path of module calls; this one has %d.", len(b.Labels))
		return
	}
	key := b.Labels[0]
	if strings.Contains(key, "/") {
		p.file.foreign = append(p.file.foreign, key)
		return
	}
	if first, ok := p.file.byKey[key]; ok {
		p.fail(b.LabelRanges[0], "Duplicate module block", "Module %.300q is already locked on line %d. Keep one of the two blocks.", key, first.module.Range.Start.Line)
		return
	}
	m, ok := p.attributes(b)
	read := &block{
		module: m,
		span:   spanOf(b),
		extras: p.extras(b),
	}
	p.file.byKey[key] = read
	p.file.blocks = append(p.file.blocks, read)
	p.file.entries[key] = &entry{module: m, block: read}
	if ok {
		p.check(m, b)
	}
}

// attributes reads the known attributes and reports whether all of them are
// literals, so that their values can be checked.
func (p *parser) attributes(b *hclsyntax.Block) (Module, bool) {
	m := Module{Key: b.Labels[0], Range: b.DefRange()}
	before := len(p.diags)
	for _, field := range []struct {
		name  string
		value *string
	}{{"version", &m.Version}, {"source", &m.Source}, {"constraints", &m.Constraints}, {"package", &m.Package}} {
		attribute, ok := b.Body.Attributes[field.name]
		if !ok {
			continue
		}
		*field.value = p.str(attribute.Expr)
		if *field.value == "" {
			p.fail(attribute.Expr.Range(), "Empty attribute", "Module %.300q: %s has no value; remove the line.", m.Key, field.name)
		}
	}
	if attribute, ok := b.Body.Attributes["hashes"]; ok {
		m.Hashes = p.hashes(attribute.Expr)
	}
	m.Source = withoutModulesSegment(m.Source)
	return m, len(p.diags) == before
}

// str returns the value of a quoted string without templates. It decodes the source text,
// because HCL normalizes Unicode in its values, but addresses are compared byte for byte.
func (p *parser) str(expr hclsyntax.Expression) string {
	at := expr.Range()
	template, ok := expr.(*hclsyntax.TemplateExpr)
	if !ok || !template.IsStringLiteral() || p.src[at.Start.Byte] != '"' {
		p.fail(at, "Not a literal string", "The value must be a quoted string without templates, functions or references. To write \"${\" itself, use \"$${\".")
		return "-" // not empty, so that it is not reported as empty as well
	}
	quoted := at.SliceBytes(p.src)
	if !bytes.ContainsAny(quoted, `\$%`) { // no escapes, the usual case
		return string(quoted[1 : len(quoted)-1])
	}
	tokens, _ := hclsyntax.LexExpression(quoted, at.Filename, at.Start)
	var value strings.Builder
	for _, token := range tokens {
		if token.Type == hclsyntax.TokenQuotedLit {
			part, _ := hclsyntax.ParseStringLiteralToken(token) // has been parsed before, without errors
			value.WriteString(part)
		}
	}
	return value.String()
}

func (p *parser) hashes(expr hclsyntax.Expression) []hashing.Hash {
	list, ok := expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		p.fail(expr.Range(), "Not a literal list", "hashes must be a list of quoted strings in square brackets.")
		return nil
	}
	hashes := make([]hashing.Hash, 0, len(list.Exprs))
	for _, element := range list.Exprs {
		hashes = append(hashes, hashing.Hash(p.str(element)))
	}
	return hashes
}

// check reports the invalid values of a module at their positions.
func (p *parser) check(m Module, b *hclsyntax.Block) {
	for _, bad := range m.faults() {
		at := b.DefRange()
		attribute, ok := b.Body.Attributes[bad.attribute]
		switch {
		case bad.attribute == "":
			at = b.LabelRanges[0]
		case !ok:
		case bad.element >= 0:
			at = attribute.Expr.(*hclsyntax.TupleConsExpr).Exprs[bad.element].Range()
		default:
			at = attribute.Expr.Range()
		}
		p.fail(at, bad.summary, "Module %.300q: %s.", m.Key, bad.err)
	}
	for _, field := range []struct{ name, address string }{{"source", m.Source}, {"package", m.Package}} {
		if holdsPassword(field.address) {
			p.fail(b.Body.Attributes[field.name].NameRange, "Credentials in lock file", "Module %.300q: %s. Remove the password here, and change it: anyone who can read this file can read it.", m.Key, ErrCredential)
		}
	}
}

// withoutModulesSegment converts an address in the form of the RFC's example,
// HOST/modules/NAMESPACE/NAME/SYSTEM, to a plain registry address. It returns other
// addresses unchanged.
func withoutModulesSegment(source string) string {
	host, rest, _ := strings.Cut(source, "/")
	plain, ok := strings.CutPrefix(rest, "modules/")
	if !ok {
		return source
	}
	if _, err := addrs.ParseModuleSource(source); err == nil {
		return source
	}
	registry, err := addrs.ParseModuleSourceRegistry(host + "/" + plain)
	if err != nil {
		return source
	}
	return registry.String()
}
