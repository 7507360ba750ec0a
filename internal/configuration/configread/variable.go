package configread

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cotterpin/cotter/internal/configuration/eval"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

type variable struct {
	name string
	at   hcl.Range
	ty   cty.Type
	// literal says that a value on the command line is the text of a string and not an expression.
	literal  bool
	defaults *typeexpr.Defaults // of optional attributes; may be nil
	// initial is the default before its conversion.
	initial              cty.Value
	required             bool
	nullable             bool
	sensitive, ephemeral bool
	// constant is false for "const = false" and, in Terraform, without "const = true".
	constant bool
}

func (e *evaluation) variable(s *scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	return e.remember(s, "var."+name, at, func(found *declarations) (cty.Value, hcl.Diagnostics) {
		declared, ok := found.variables[name]
		if !ok {
			return cty.DynamicVal, hcl.Diagnostics{undeclared("input variable", "var", name, at)}
		}
		v, diags := e.decodeVariable(name, declared)
		if diags.HasErrors() {
			return cty.DynamicVal, diags
		}
		if !v.constant && e.reader.Terraform {
			return eval.UnknownValue("var."+name, v.at), nil
		}
		if !v.constant {
			return cty.DynamicVal, hcl.Diagnostics{v.notConstant(at)}
		}
		return e.valueOf(s, v, at)
	})
}

func (e *evaluation) decodeVariable(name string, d *declaration) (*variable, hcl.Diagnostics) {
	v := &variable{name: name, at: d.at, ty: cty.DynamicPseudoType, literal: true, nullable: true, constant: !e.reader.Terraform, required: true}
	var diags hcl.Diagnostics
	if attr := d.attributes["type"]; attr != nil {
		v.ty, v.defaults, diags = typeOf(e.meter, attr.Expr)
		v.literal = v.ty.IsPrimitiveType()
	}
	if attr := d.attributes["default"]; attr != nil {
		value, valueDiags := e.meter.Constant(attr.Expr)
		diags = append(diags, valueDiags...)
		v.initial, v.required = value, false
	}
	for name, flag := range map[string]*bool{"nullable": &v.nullable, "sensitive": &v.sensitive, "ephemeral": &v.ephemeral, "const": &v.constant} {
		attr := d.attributes[name]
		if attr == nil {
			continue
		}
		value, valueDiags := e.meter.Constant(attr.Expr)
		if diags = append(diags, valueDiags...); valueDiags.HasErrors() {
			continue
		}
		value, err := convert.Convert(value, cty.Bool)
		if err != nil || !known(value) {
			diags = append(diags, fault(attr.Expr.Range(), "Invalid variable", "The argument %s of variable %q must be true or false.", name, v.name))
			continue
		}
		*flag = value.True()
	}
	return v, diags
}

func (e *evaluation) valueOf(s *scope, v *variable, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	value, from, given, diags := e.given(s, v)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if given && value.IsNull() && !v.nullable {
		given = false
	}
	if !given {
		if v.required {
			return cty.DynamicVal, hcl.Diagnostics{v.missing(s, at)}
		}
		value, from = v.initial, v.at
	}
	converted, err := e.meter.Convert(value, v.ty, v.defaults)
	if err != nil {
		return cty.DynamicVal, hcl.Diagnostics{v.wrongType(err, value, from)}
	}
	value = converted
	if v.sensitive {
		value = value.Mark(eval.Mark{Kind: eval.Sensitive, What: "var." + v.name, At: v.at})
	}
	if v.ephemeral {
		value = value.Mark(eval.Mark{Kind: eval.Ephemeral, What: "var." + v.name, At: v.at})
	}
	return value, nil
}

func (e *evaluation) given(s *scope, v *variable) (value cty.Value, from hcl.Range, ok bool, diags hcl.Diagnostics) {
	switch {
	case s.isRoot():
		return e.input(s, v)
	case s.caller != nil:
		return e.argument(s, v.name)
	}
	return cty.DynamicVal, hcl.Range{}, false, nil
}

func (e *evaluation) argument(s *scope, name string) (value cty.Value, from hcl.Range, ok bool, diags hcl.Diagnostics) {
	caller := s.caller
	caller.mu.Lock()
	defer caller.mu.Unlock()
	found, diags := e.declarations(caller)
	if diags.HasErrors() {
		return cty.DynamicVal, from, false, diags
	}
	var attributes hcl.Attributes
	if s.run != nil {
		attributes = s.run.variables
	} else if call, ok := found.calls[s.call]; ok {
		attributes = call.attributes
	}
	if attributes[name] == nil {
		return cty.DynamicVal, from, false, nil
	}
	expr := attributes[name].Expr
	value, diags = e.expression(caller, expr)
	return value, expr.Range(), true, diags
}

func (v *variable) notConstant(at hcl.Range) *hcl.Diagnostic {
	return fault(at, "Variable is not constant", "The variable %q is declared with const = false at %s, so no module's source or version may depend on it.", v.name, position(v.at))
}

func (v *variable) missing(s *scope, at hcl.Range) *hcl.Diagnostic {
	var what string
	switch {
	case s.isRoot():
		what = v.howToSet()
	case s.run != nil:
		what = fmt.Sprintf("The run %q, whose module block is at %s, does not set it in its own variables block, and those of the file are used only when the test runs.", s.call, position(s.at))
	case s.caller != nil:
		what = fmt.Sprintf("The call of module %q at %s does not set it either.", s.call, position(s.at))
	default:
		what = "The module that calls this one was not read: give the variable a default."
	}
	return fault(at, "No value for required variable", "The variable %q is used here, and is declared without a default at %s. %s", v.name, position(v.at), what)
}

func (v *variable) howToSet() string {
	return fmt.Sprintf("Set it with -var '%s=...', in a -var-file, in terraform.tfvars or by TF_VAR_%s.", v.name, v.name)
}

// wrongType does not show secrets.
func (v *variable) wrongType(err error, value cty.Value, from hcl.Range) *hcl.Diagnostic {
	reason := strings.TrimSuffix(err.Error(), ".")
	if v.sensitive || v.ephemeral || eval.Secret(value) {
		reason = "it has another type"
	}
	if from.Filename == "" {
		from = v.at
	}
	return fault(from, "Invalid value for input variable", "The value does not fit the type of the variable %q, declared at %s: %s.", v.name, position(v.at), reason)
}

func fault(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at}
}

func position(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

func (e *evaluation) input(s *scope, v *variable) (value cty.Value, from hcl.Range, ok bool, diags hcl.Diagnostics) {
	inputs := s.tree.inputs
	for i := len(inputs.Variables) - 1; i >= 0; i-- {
		given := inputs.Variables[i]
		switch given.Name {
		case v.name:
			value, diags = e.parseInput(v, given.Value, "-var "+v.name)
			return value, from, true, diags
		case "":
			value, from, ok, diags = e.fromFile(s, v, valuesFile{given.File, true})
			if ok || diags.HasErrors() {
				return value, from, ok, diags
			}
		}
	}
	own, diags := s.tree.files.own(s.dir)
	if diags.HasErrors() {
		return cty.DynamicVal, from, false, diags
	}
	for _, name := range own {
		value, from, ok, diags = e.fromFile(s, v, valuesFile{name, false})
		if ok || diags.HasErrors() {
			return value, from, ok, diags
		}
	}
	if text, ok := inputs.Environment[v.name]; ok {
		value, diags = e.parseInput(v, text, "TF_VAR_"+v.name)
		return value, from, true, diags
	}
	return cty.DynamicVal, from, false, nil
}

func (e *evaluation) fromFile(s *scope, v *variable, file valuesFile) (value cty.Value, from hcl.Range, ok bool, diags hcl.Diagnostics) {
	attributes, diags := s.tree.files.attributes(e.ctx, s, file)
	if diags.HasErrors() {
		return cty.DynamicVal, from, false, diags
	}
	attr, ok := attributes[v.name]
	if !ok {
		return cty.DynamicVal, from, false, nil
	}
	value, diags = e.meter.Constant(attr.Expr)
	return value, attr.Expr.Range(), true, v.withoutValue(diags)
}

func (e *evaluation) parseInput(v *variable, text, origin string) (cty.Value, hcl.Diagnostics) {
	if v.literal {
		return cty.StringVal(text), nil
	}
	expr, diags := hcldepth.ParseExpression(e.ctx, []byte(text), origin, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.DynamicVal, v.withoutValue(diags)
	}
	value, diags := e.meter.Constant(expr)
	return value, v.withoutValue(diags)
}

// withoutValue replaces the diagnostics about a secret variable, which could quote its value.
func (v *variable) withoutValue(diags hcl.Diagnostics) hcl.Diagnostics {
	if len(diags) == 0 || !v.sensitive && !v.ephemeral {
		return diags
	}
	return hcl.Diagnostics{fault(*diags[0].Subject, "Invalid value for input variable",
		"The value of the variable %q, which is declared at %s, is not a valid expression.", v.name, position(v.at))}
}
