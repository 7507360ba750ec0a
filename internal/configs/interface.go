package configs

import (
	"context"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
)

// Interface is what a module declares to its callers.
type Interface struct {
	// Variables, Outputs and Providers are by name. Outputs are a set. The value of
	// a provider is its source and its version constraints, such as
	// "hashicorp/aws ~> 5.0".
	Variables map[string]DeclaredVariable
	Outputs   map[string]bool
	Providers map[string]string
}

// DeclaredVariable is an input variable as a caller sees it.
type DeclaredVariable struct {
	// Type is the type constraint in its normal form, such as
	// "map(string)". It is "any" without a constraint or if that cannot be parsed.
	Type string
	// Required says that there is no default.
	Required bool
}

var interfaceSchema = &hcl.BodySchema{
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "output", LabelNames: []string{"name"}},
		{Type: "terraform"},
	},
}

// ReadInterface reads what the module in a directory declares to its callers. The
// result is for showing what changed, so it skips what it cannot parse. Errors in
// the configuration are reported by the stock tools.
func (r Reader) ReadInterface(ctx context.Context, dir Dir) (*Interface, error) {
	found := &Interface{Variables: map[string]DeclaredVariable{}, Outputs: map[string]bool{}, Providers: map[string]string{}}
	d, err := openDirectory(dir)
	if err != nil {
		return found, err
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return found, err
	}
	for _, file := range r.selectFiles(names) {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		src, err := d.read(file.name)
		if err != nil {
			return found, err
		}
		if body, _ := parse(src, dir.display(file.name), file.json, hcl.InitialPos); body != nil {
			found.add(body)
		}
	}
	return found, nil
}

// add adds the declarations of one file.
func (i *Interface) add(body hcl.Body) {
	content, _, _ := body.PartialContent(interfaceSchema)
	for _, block := range content.Blocks {
		switch block.Type {
		case "variable":
			i.addVariable(block.Labels[0], block.Body)
		case "output":
			i.Outputs[block.Labels[0]] = true
		default:
			i.addProviders(block.Body)
		}
	}
}

// addVariable adds a variable, or what an override file changes of one.
func (i *Interface) addVariable(name string, body hcl.Body) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "type"}, {Name: "default"}},
	})
	v, declared := i.Variables[name]
	if !declared {
		v = DeclaredVariable{Type: "any", Required: true}
	}
	if attr, ok := content.Attributes["type"]; ok {
		if ty, _, diags := typeexpr.TypeConstraintWithDefaults(attr.Expr); !diags.HasErrors() {
			v.Type = typeText(ty)
		}
	}
	if _, ok := content.Attributes["default"]; ok {
		v.Required = false
	}
	i.Variables[name] = v
}

func (i *Interface) addProviders(body hcl.Body) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "required_providers"}},
	})
	for _, block := range content.Blocks {
		attrs, _ := block.Body.JustAttributes()
		for name, attr := range attrs {
			i.Providers[name] = provider(attr.Expr)
		}
	}
}

// provider returns a provider requirement as one line.
func provider(expr hcl.Expression) string {
	if value, diags := expr.Value(nil); !diags.HasErrors() && value.Type() == cty.String && value.IsKnown() && !value.IsNull() {
		return value.AsString() // a version constraint alone, in the old form
	}
	pairs, _ := hcl.ExprMap(expr)
	var parts []string
	for _, wanted := range []string{"source", "version"} {
		for _, pair := range pairs {
			value, diags := pair.Value.Value(nil)
			if hcl.ExprAsKeyword(pair.Key) != wanted && !isString(pair.Key, wanted) || diags.HasErrors() {
				continue
			}
			if value.Type() == cty.String && value.IsKnown() && !value.IsNull() {
				parts = append(parts, value.AsString())
			}
		}
	}
	return strings.Join(parts, " ")
}

func isString(expr hcl.Expression, want string) bool {
	value, diags := expr.Value(nil)
	return !diags.HasErrors() && value.Type() == cty.String && value.IsKnown() && !value.IsNull() && value.AsString() == want
}
