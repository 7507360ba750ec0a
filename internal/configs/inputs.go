package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// Inputs are the values for a root module that do not come from its directory.
type Inputs struct {
	// Environment has values of variables. They have a lower precedence than the values in the
	// root module's own files terraform.tfvars and *.auto.tfvars.
	Environment map[string]string
	// Variables have the highest precedence. If a variable has several values, the last one
	// counts.
	Variables []Variable
	// Workspace is the name of the workspace. "" means "default".
	Workspace string
	// AllowFileReads lets functions in the user's own modules read all files that the process can
	// read. Otherwise they can read the files that package repofiles allows.
	AllowFileReads bool
	// Home is the user's home directory, if it differs from the one that the operating system
	// knows. See [repofiles.Find].
	Home string
}

// Variable is the value of a variable, or a file with values of several variables.
type Variable struct {
	// Name is the name of the variable, and Value is the text of its value, as on the command line
	// of stock tools. The text is the string itself for a variable of a primitive type, and an
	// expression for any other type.
	Name, Value string
	// File is the path of a file of values, relative to the root module's directory. It is used if
	// Name is empty.
	File string
}

func (in Inputs) workspace() string {
	if in.Workspace == "" {
		return "default"
	}
	return in.Workspace
}

// input returns the value that was given to a variable of the root module.
func (e *evaluation) input(s *Scope, v *variable) (value cty.Value, from hcl.Range, ok bool, diags hcl.Diagnostics) {
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

// fromFile returns the value of a variable in a file of values. ok is false if it has none.
func (e *evaluation) fromFile(s *Scope, v *variable, file valuesFile) (value cty.Value, from hcl.Range, ok bool, diags hcl.Diagnostics) {
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

// parseInput parses a value that was given as text.
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

// withoutValue replaces the diagnostics about a secret variable, because they could quote its
// value.
func (v *variable) withoutValue(diags hcl.Diagnostics) hcl.Diagnostics {
	if len(diags) == 0 || !v.sensitive && !v.ephemeral {
		return diags
	}
	return hcl.Diagnostics{fault("Invalid value for input variable",
		fmt.Sprintf("The value of the variable %q, which is declared at %s, is not a valid expression.", v.name, place(v.at)), *diags[0].Subject)}
}
