package configread

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/configuration/eval"
)

// Interface has the declarations of a module that matter to its callers.
type Interface struct {
	// Providers are keyed by local name.
	Variables map[string]DeclaredVariable
	Outputs   map[string]DeclaredOutput
	Providers map[string]DeclaredProvider
	// RequiredVersion has the constraints of all terraform blocks, separated by commas.
	RequiredVersion string
}

type DeclaredVariable struct {
	// Type is the constraint in its normal form, such as "map(string)", or "any" if there is no valid one.
	Type     string
	Required bool
	// Default is the text of the default in one line.
	Default string
	// NotNullable reports whether null stands for the default.
	NotNullable, Sensitive, Ephemeral bool
	// Deprecated is the message for callers, or "".
	Deprecated string
	// Validations are the conditions of the rules, each in one line, sorted.
	Validations []string

	ty cty.Type
}

type DeclaredOutput struct {
	Sensitive, Ephemeral bool
	Deprecated           string
}

type DeclaredProvider struct {
	Source, Constraint string
	// Aliases are the configurations that the caller must pass, such as "aws.peer", sorted.
	Aliases []string
}

var interfaceSchema = &hcl.BodySchema{
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "output", LabelNames: []string{"name"}},
		{Type: "terraform"},
	},
}

// ReadInterface reads the interface of the module in a directory, to show what has changed. So it skips
// what it cannot parse. It evaluates nothing but types, with a limit, so a hostile module cannot make it slow.
func (r Reader) ReadInterface(ctx context.Context, dir Dir) (*Interface, error) {
	found := &Interface{
		Variables: map[string]DeclaredVariable{}, Outputs: map[string]DeclaredOutput{}, Providers: map[string]DeclaredProvider{},
	}
	meter := eval.NewMeter(ctx, new(eval.Tree)) // for the types
	return found, r.eachBody(ctx, dir, func(body hcl.Body, src []byte) { found.add(body, src, meter) })
}

// eachBody calls use for each file that can be parsed, in the order in which overrides apply.
func (r Reader) eachBody(ctx context.Context, dir Dir, use func(hcl.Body, []byte)) error {
	return r.eachFile(ctx, dir, func(d *directory, f file) error {
		src, err := d.readConfig(f)
		if err != nil {
			return err
		}
		if body, _ := parse(ctx, src, dir.display(f.name), f.json, hcl.InitialPos); body != nil {
			use(body, src)
		}
		return nil
	})
}

func (i *Interface) add(body hcl.Body, src []byte, meter *eval.Meter) {
	content, _, _ := body.PartialContent(interfaceSchema)
	for _, block := range content.Blocks {
		switch block.Type {
		case "variable":
			i.addVariable(block.Labels[0], block.Body, src, meter)
		case "output":
			i.addOutput(block.Labels[0], block.Body, src)
		default:
			i.addRequirements(block.Body, src)
		}
	}
}

var variableSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "type"}, {Name: "default"}, {Name: "nullable"}, {Name: "sensitive"}, {Name: "ephemeral"}, {Name: "deprecated"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "validation"}},
}

func (i *Interface) addVariable(name string, body hcl.Body, src []byte, meter *eval.Meter) {
	content, _, _ := body.PartialContent(variableSchema)
	v, declared := i.Variables[name]
	if !declared {
		v = DeclaredVariable{Type: "any", Required: true, ty: cty.DynamicPseudoType}
	}
	if attr, ok := content.Attributes["type"]; ok {
		if ty, _, diags := typeOf(meter, attr.Expr); !diags.HasErrors() {
			v.ty, v.Type = ty, typeText(ty)
		}
	}
	if attr, ok := content.Attributes["default"]; ok {
		v.Required, v.Default = false, exprText(attr.Expr, src)
	}
	if attr, ok := content.Attributes["nullable"]; ok {
		v.NotNullable = isWord(attr.Expr, src, "false")
	}
	v.Sensitive = flag(content, src, "sensitive", v.Sensitive)
	v.Ephemeral = flag(content, src, "ephemeral", v.Ephemeral)
	v.Deprecated = message(content, src, v.Deprecated)
	for _, rule := range content.Blocks {
		found, _, _ := rule.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "condition"}}})
		if attr, ok := found.Attributes["condition"]; ok {
			v.Validations = append(v.Validations, exprText(attr.Expr, src))
		}
	}
	slices.Sort(v.Validations)
	i.Variables[name] = v
}

// typeOf returns a type, which may be quoted in old configuration, and the defaults of its optional
// attributes.
func typeOf(meter *eval.Meter, expr hcl.Expression) (cty.Type, *typeexpr.Defaults, hcl.Diagnostics) {
	switch keyName(expr) {
	case "list":
		return cty.List(cty.DynamicPseudoType), nil, nil
	case "map":
		return cty.Map(cty.DynamicPseudoType), nil, nil
	case "string":
		return cty.String, nil, nil
	}
	return meter.Type(expr)
}

func (i *Interface) addOutput(name string, body hcl.Body, src []byte) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "sensitive"}, {Name: "ephemeral"}, {Name: "deprecated"}},
	})
	o := i.Outputs[name]
	o.Sensitive = flag(content, src, "sensitive", o.Sensitive)
	o.Ephemeral = flag(content, src, "ephemeral", o.Ephemeral)
	o.Deprecated = message(content, src, o.Deprecated)
	i.Outputs[name] = o
}

func (i *Interface) addRequirements(body hcl.Body, src []byte) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "required_version"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "required_providers"}},
	})
	if attr, ok := content.Attributes["required_version"]; ok {
		text, isLiteral := stringOf(attr.Expr)
		if !isLiteral {
			text = exprText(attr.Expr, src)
		}
		if i.RequiredVersion != "" {
			text = i.RequiredVersion + ", " + text
		}
		i.RequiredVersion = text
	}
	for _, block := range content.Blocks {
		attrs, _ := block.Body.JustAttributes()
		for name, attr := range attrs {
			i.Providers[name] = declaredProvider(attr.Expr)
		}
	}
}

// declaredProvider decodes an entry of required_providers. The old form is only a version constraint.
func declaredProvider(expr hcl.Expression) DeclaredProvider {
	if constraint, ok := stringOf(expr); ok {
		return DeclaredProvider{Constraint: constraint}
	}
	var p DeclaredProvider
	pairs, _ := hcl.ExprMap(expr)
	for _, pair := range pairs {
		text, _ := stringOf(pair.Value)
		switch keyName(pair.Key) {
		case "source":
			p.Source = text
		case "version":
			p.Constraint = text
		case "configuration_aliases":
			p.Aliases = aliases(pair.Value)
		}
	}
	return p
}

func aliases(expr hcl.Expression) []string {
	list, _ := hcl.ExprList(expr)
	var names []string
	for _, one := range list {
		traversal, diags := hcl.AbsTraversalForExpr(one)
		if diags.HasErrors() {
			continue
		}
		names = append(names, strings.Join(stepNames(traversal), "."))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func flag(content *hcl.BodyContent, src []byte, name string, before bool) bool {
	attr, ok := content.Attributes[name]
	if !ok {
		return before
	}
	return isWord(attr.Expr, src, "true")
}

func message(content *hcl.BodyContent, src []byte, before string) string {
	attr, ok := content.Attributes["deprecated"]
	if !ok {
		return before
	}
	if text, ok := stringOf(attr.Expr); ok {
		return text
	}
	return exprText(attr.Expr, src)
}

func isWord(expr hcl.Expression, src []byte, word string) bool {
	return strings.Trim(exprText(expr, src), `"`) == word
}
