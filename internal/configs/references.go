package configs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/eval"
)

// maxReferences is the maximum length of a chain of references. Each reference uses some of the
// stack.
const maxReferences = 500

// evaluation is the evaluation of one module's arguments, and of everything that they refer to in
// the calling modules.
type evaluation struct {
	ctx    context.Context
	reader Reader
	meter  *eval.Meter
	// path is the chain of references to the value that is being evaluated.
	path []step
	// seen has the keys of the errors that have been reported.
	seen map[string]bool
}

// step is a value that is being evaluated.
type step struct {
	scope *Scope
	name  string // as the configuration refers to it
	at    hcl.Range
}

// expression evaluates an expression of a module. The caller holds the scope's
// lock.
func (e *evaluation) expression(s *Scope, expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	native, diags := eval.Native(e.ctx, expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	objects := make(map[string]map[string]cty.Value)
	values := make(map[string]cty.Value)
	for _, traversal := range native.Variables() {
		root := traversal.RootName()
		name, names := attribute(traversal), e.staticNames(root)
		if names == nil {
			values[root] = eval.UnknownValue(reference(traversal), traversal.SourceRange())
			continue
		}
		if objects[root] == nil {
			objects[root] = make(map[string]cty.Value)
		}
		if _, ok := objects[root][name]; ok {
			continue
		}
		value, valueDiags := names(e, s, name, traversal.SourceRange())
		diags = append(diags, valueDiags...)
		objects[root][name] = value
	}
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	for root, attributes := range objects {
		values[root] = cty.ObjectVal(attributes)
	}
	return e.meter.Evaluate(native, eval.Scope{Values: values, Files: moduleFiles{s}})
}

// attribute returns the name after the root of a reference, or "".
func attribute(traversal hcl.Traversal) string {
	if len(traversal) > 1 {
		if attr, ok := traversal[1].(hcl.TraverseAttr); ok {
			return attr.Name
		}
	}
	return ""
}

// lookup returns the value of a name of one kind. at is the place of the reference.
type lookup func(e *evaluation, s *Scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics)

// staticNames returns the lookup for names that are known before anything is installed. It
// returns nil for all other roots.
func (e *evaluation) staticNames(root string) lookup {
	switch root {
	case "var":
		return (*evaluation).variable
	case "local":
		return (*evaluation).local
	case "path":
		return (*evaluation).pathOf
	case "terraform", "tofu":
		if e.reader.Terraform {
			return nil // Terraform does not know the workspace this early
		}
		return (*evaluation).workspace
	}
	return nil
}

// enter records that a value is being evaluated. It returns an error if the value is already
// being evaluated, or if the chain of references is too long.
func (e *evaluation) enter(next step) hcl.Diagnostics {
	for i, before := range e.path {
		if before.scope == next.scope && before.name == next.name {
			return hcl.Diagnostics{circular(append(e.path[i:len(e.path):len(e.path)], next))}
		}
	}
	if len(e.path) == maxReferences {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Too many references",
			Detail:   fmt.Sprintf("The chain of references to %[2]s is longer than %[1]d.", maxReferences, next.name),
			Subject:  &next.at,
		}}
	}
	e.path = append(e.path, next)
	return nil
}

func (e *evaluation) leave() { e.path = e.path[:len(e.path)-1] }

func circular(path []step) *hcl.Diagnostic {
	var names []string
	for _, s := range path {
		names = append(names, fmt.Sprintf("%s (%s:%d)", s.name, s.at.Filename, s.at.Start.Line))
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Circular reference",
		Detail:   "The value depends on itself: " + strings.Join(names, ", then ") + ".",
		Subject:  path[0].at.Ptr(),
	}
}

func (e *evaluation) local(s *Scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	return e.remember(s, "local."+name, at, func(found *declarations) (cty.Value, hcl.Diagnostics) {
		attr, ok := found.locals[name]
		if !ok {
			return cty.DynamicVal, hcl.Diagnostics{undeclared("local value", "local", name, at)}
		}
		return e.expression(s, attr.Expr)
	})
}

// remember evaluates a value of a module, or returns the result of an earlier evaluation.
func (e *evaluation) remember(s *Scope, name string, at hcl.Range, f func(*declarations) (cty.Value, hcl.Diagnostics)) (cty.Value, hcl.Diagnostics) {
	found, diags := e.declarations(s)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if value, ok := found.values[name]; ok {
		return value, nil
	}
	if diags := e.enter(step{s, name, at}); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	defer e.leave()
	value, diags := f(found)
	if !diags.HasErrors() {
		found.values[name] = value
	}
	return value, diags
}

func undeclared(what, kind, name string, at hcl.Range) *hcl.Diagnostic {
	detail := fmt.Sprintf("The module has no %s named %q.", what, name)
	if name == "" {
		detail = fmt.Sprintf("%q alone is not a value: write %s.NAME.", kind, kind)
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Reference to undeclared " + what,
		Detail:   detail,
		Subject:  &at,
	}
}

// pathOf returns path.module, path.root or path.cwd, as in stock tools. path.cwd is an error in a
// package's module, like abspath.
func (e *evaluation) pathOf(s *Scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	switch name {
	case "module":
		return cty.StringVal(s.dir.display("")), nil
	case "root":
		return cty.StringVal(s.tree.root.dir.display("")), nil
	case "cwd":
		if s.dir.Boundary != "" {
			return cty.DynamicVal, hcl.Diagnostics{{
				Severity: hcl.DiagError,
				Summary:  `Invalid "path" attribute`,
				Detail:   fmt.Sprintf("path.cwd cannot be used here: %s.", errAbsolute),
				Subject:  &at,
			}}
		}
		if dir, err := os.Getwd(); err == nil {
			return cty.StringVal(filepath.ToSlash(dir)), nil
		}
	}
	return cty.DynamicVal, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  `Invalid "path" attribute`,
		Detail:   fmt.Sprintf("There is no path.%s; there are path.module, path.root and path.cwd.", name),
		Subject:  &at,
	}}
}

func (e *evaluation) workspace(s *Scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	if name == "workspace" {
		return cty.StringVal(s.tree.inputs.workspace()), nil
	}
	return cty.DynamicVal, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  `Invalid "terraform" attribute`,
		Detail:   fmt.Sprintf("There is no value %q. The only one is the workspace.", name),
		Subject:  &at,
	}}
}
