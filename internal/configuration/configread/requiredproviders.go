package configread

import (
	"cmp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configuration/eval"
)

type providerEntry struct {
	name      string
	at        hcl.Range
	source    string // if hasSource is set
	hasSource bool
	sourceAt  hcl.Range
	version   constraint
}

func (e *providerEntry) isHostless() bool { return strings.Count(e.source, "/") < 2 }

// addRequired lets entries of an override file replace earlier ones.
func (r *requirements) addRequired(b *hcl.Block, override bool) {
	if !override {
		if r.block != nil {
			r.fail(b.DefRange, "Duplicate required_providers block", "The module already has one at %s. A module can have only one.", position(*r.block))
			return
		}
		r.block = &b.DefRange
	}
	attributes, diags := b.Body.JustAttributes()
	r.diags = append(r.diags, diags...)
	for _, attr := range attributes {
		if entry, ok := r.entry(attr); ok {
			r.entries[entry.name] = entry
		}
	}
}

// entry decodes an object, or only a version, the form of early releases.
func (r *requirements) entry(attr *hcl.Attribute) (*providerEntry, bool) {
	pairs, notObject := hcl.ExprMap(attr.Expr)
	if !notObject.HasErrors() {
		return r.objectEntry(attr, pairs)
	}
	value, ok := literalValue(attr.Expr)
	if !ok || value.IsNull() || value.Type() != cty.String && value.Type() != cty.Number {
		r.fail(attr.Expr.Range(), "Invalid required_providers entry", "The entry %q must be an object with the literal arguments source and version.", attr.Name)
		return nil, false
	}
	name, err := addrs.ParseProviderPart(attr.Name)
	if err != nil {
		r.fail(attr.NameRange, "Invalid provider name", "The name %s.", err)
		return nil, false
	}
	var text cty.Value
	if eval.Digits(value) <= maxDigits {
		text, err = convert.Convert(value, cty.String)
	}
	if err != nil || text == cty.NilVal {
		r.fail(attr.Expr.Range(), "Invalid version constraint", "The version of provider %q is not a version constraint.", name)
		return nil, false
	}
	return &providerEntry{name: name, at: attr.NameRange, version: constraint{text.AsString(), attr.Expr.Range()}}, true
}

func (r *requirements) objectEntry(attr *hcl.Attribute, pairs []hcl.KeyValuePair) (*providerEntry, bool) {
	if !r.checkName(attr.Name, attr.NameRange) {
		return nil, false
	}
	entry := &providerEntry{name: attr.Name, at: attr.NameRange}
	for _, pair := range pairs {
		key := keyName(pair.Key)
		if key == "configuration_aliases" {
			continue
		}
		if key != "source" && key != "version" {
			r.fail(pair.Key.Range(), "Invalid required_providers entry", "Provider %q has the argument %.100q. The arguments are source, version and configuration_aliases.", entry.name, key)
			continue
		}
		value, ok := literalValue(pair.Value)
		if !ok || value.IsNull() || value.Type() != cty.String {
			r.fail(pair.Value.Range(), "Invalid required_providers entry", "The %s of provider %q must be a literal string.", key, entry.name)
			return nil, false
		}
		if key == "source" {
			entry.source, entry.hasSource, entry.sourceAt = value.AsString(), true, pair.Value.Range()
		} else {
			entry.version = constraint{value.AsString(), pair.Value.Range()}
		}
	}
	return entry, true
}

// keyName returns the word or the literal string of an expression, or "".
func keyName(key hcl.Expression) string {
	text, _ := stringOf(key)
	return cmp.Or(hcl.ExprAsKeyword(key), text)
}

// literalValue takes time in proportion to the length of the expression.
func literalValue(expr hcl.Expression) (cty.Value, bool) {
	if key, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		expr = key.Wrapped
	}
	if native, ok := expr.(hclsyntax.Expression); ok {
		value, rest := literal(native)
		return value, rest == nil && value.IsKnown()
	}
	// In JSON, strings are not templates if there is no evaluation context.
	value, diags := expr.Value(nil)
	return value, !diags.HasErrors() && value.IsKnown()
}

func literalText(attr *hcl.Attribute) (string, bool) {
	if attr == nil {
		return "", false
	}
	return stringOf(attr.Expr)
}

func stringOf(expr hcl.Expression) (string, bool) {
	value, ok := literalValue(expr)
	if !ok || value.IsNull() || value.Type() != cty.String {
		return "", false
	}
	return value.AsString(), true
}
