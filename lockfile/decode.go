package lockfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/hashing"
)

const maxFaults = 1_000

type parser struct {
	src   []byte
	file  *File
	diags hcl.Diagnostics
	// stopped is set if there are too many errors to read on.
	stopped bool
}

func (p *parser) blocks(body *hclsyntax.Body) {
	p.file.items += len(body.Attributes) + len(body.Blocks)
	for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
		p.unknown(body.Attributes[name].NameRange, "Unsupported argument", "The file has provider and module blocks only, but this is the argument %.300q. Remove it: tofu and terraform refuse the file.", name)
	}
	for _, b := range body.Blocks {
		if p.stopped {
			return
		}
		switch b.Type {
		case "module":
			p.module(b)
		case "provider":
			p.provider(b)
		default:
			p.unknown(b.DefRange(), "Unsupported block", "The file has provider and module blocks only, but this is a block of type %.300q. Remove it: tofu and terraform refuse the file.", b.Type)
		}
		if max(len(p.diags), len(p.file.providerFaults)) > maxFaults {
			p.fail(b.DefRange(), "Too many errors in lock file", "The blocks up to here have more than %d errors. The rest of the file was not read.", maxFaults)
			p.stopped = true
		}
	}
}

func (p *parser) fail(subject hcl.Range, summary, format string, args ...any) {
	p.diags = append(p.diags, failure(summary, fmt.Sprintf(format, args...), &subject)...)
}

// unknown adds content that only stock tools refuse.
func (p *parser) unknown(at hcl.Range, summary, format string, args ...any) {
	if len(p.file.unknownContent) < maxFaults {
		p.file.unknownContent = append(p.file.unknownContent, failure(summary, fmt.Sprintf(format, args...), &at)...)
	}
}

func (p *parser) attribute(b *hclsyntax.Block, name string) (value string, ok bool) {
	attribute, ok := b.Body.Attributes[name]
	if !ok {
		return "", false
	}
	return p.str(attribute.Expr), true
}

// hashes returns nil if the block does not have the attribute, or it is not a list.
func (p *parser) hashes(b *hclsyntax.Block) []hashing.Hash {
	attribute, ok := b.Body.Attributes["hashes"]
	if !ok {
		return nil
	}
	list, ok := attribute.Expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		p.fail(attribute.Expr.Range(), "Not a literal list", "hashes must be a list of quoted strings in square brackets.")
		return nil
	}
	hashes := make([]hashing.Hash, 0, len(list.Exprs))
	for _, element := range list.Exprs {
		hashes = append(hashes, hashing.Hash(p.str(element)))
	}
	return hashes
}

// str returns a quoted string without templates. It decodes the source, because HCL normalizes Unicode in
// values, but addresses are compared byte for byte.
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

type fault struct {
	attribute string // "" for the label
	element   int    // the index of an invalid hash; -1 for the whole attribute
	summary   string
	err       error
}

// failAt reports invalid values at their positions. what is "Module" or "Provider".
func (p *parser) failAt(b *hclsyntax.Block, what, label string, found []fault) {
	for _, bad := range found {
		at := b.DefRange()
		attribute, ok := b.Body.Attributes[bad.attribute]
		switch {
		case bad.attribute == "" && len(b.LabelRanges) > 0:
			at = b.LabelRanges[0]
		case !ok:
		case bad.element >= 0:
			at = attribute.Expr.(*hclsyntax.TupleConsExpr).Exprs[bad.element].Range()
		default:
			at = attribute.Expr.Range()
		}
		p.fail(at, bad.summary, "%s %.300q: %s.", what, label, bad.err)
	}
}
