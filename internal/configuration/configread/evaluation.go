package configread

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/eval"
)

// maxReferences limits a chain of references, because each uses some of the stack.
const maxReferences = 500

// evaluation evaluates one module's arguments, and what they refer to in the calling modules.
type evaluation struct {
	ctx    context.Context
	reader Reader
	meter  *eval.Meter
	// path is the chain of references to the value that is being evaluated, and seen has the keys of the
	// errors that were reported.
	path []step
	seen map[string]bool
}

type step struct {
	scope *scope
	name  string // as the configuration refers to it
	at    hcl.Range
}

// expression evaluates an expression of a module. The caller holds the scope's lock.
func (e *evaluation) expression(s *scope, expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	native, diags := eval.Native(e.ctx, expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	objects := make(map[string]map[string]cty.Value)
	values := make(map[string]cty.Value)
	var dynamic []eval.Mark // at most one
	note := func(value cty.Value) {
		if origin, ok := eval.DynamicOrigin(value); ok && len(dynamic) == 0 {
			dynamic = append(dynamic, eval.Mark{Kind: eval.Dynamic, What: origin.What, At: origin.At})
		}
	}
	for _, traversal := range native.Variables() {
		root := traversal.RootName()
		name, names := attribute(traversal), e.staticNames(root)
		if names == nil {
			values[root] = eval.UnknownValue(reference(traversal), traversal.SourceRange())
			note(values[root])
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
		note(value)
	}
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	for root, attributes := range objects {
		values[root] = cty.ObjectVal(attributes)
	}
	value, diags := e.meter.Evaluate(native, eval.Scope{Values: values, Files: moduleFiles{s}})
	for _, mark := range dynamic {
		value = value.Mark(mark)
	}
	return value, diags
}

func attribute(traversal hcl.Traversal) string {
	if len(traversal) > 1 {
		if attr, ok := traversal[1].(hcl.TraverseAttr); ok {
			return attr.Name
		}
	}
	return ""
}

// at is the position of the reference.
type lookup func(e *evaluation, s *scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics)

// staticNames returns the lookup for names that are known before anything is installed, or nil.
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

// enter begins the evaluation of a value. It fails if that has begun already, or if the chain of
// references is too long.
func (e *evaluation) enter(next step) hcl.Diagnostics {
	for i, before := range e.path {
		if before.scope == next.scope && before.name == next.name {
			return hcl.Diagnostics{circular(append(e.path[i:len(e.path):len(e.path)], next))}
		}
	}
	if len(e.path) == maxReferences {
		return hcl.Diagnostics{fault(next.at, "Too many references", "The chain of references to %s is longer than %d.", next.name, maxReferences)}
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
	return fault(path[0].at, "Circular reference", "The value depends on itself: %s.", strings.Join(names, ", then "))
}

func (e *evaluation) local(s *scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	return e.remember(s, "local."+name, at, func(found *declarations) (cty.Value, hcl.Diagnostics) {
		attr, ok := found.locals[name]
		if !ok {
			return cty.DynamicVal, hcl.Diagnostics{undeclared("local value", "local", name, at)}
		}
		return e.expression(s, attr.Expr)
	})
}

func (e *evaluation) remember(s *scope, name string, at hcl.Range, f func(*declarations) (cty.Value, hcl.Diagnostics)) (cty.Value, hcl.Diagnostics) {
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
	return fault(at, "Reference to undeclared "+what, "%s", detail)
}

// pathOf returns path.module, path.root or path.cwd. The last one is an error in a package's module,
// like abspath.
func (e *evaluation) pathOf(s *scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	switch name {
	case "module":
		return cty.StringVal(s.dir.display("")), nil
	case "root":
		return cty.StringVal(s.tree.root.dir.display("")), nil
	case "cwd":
		if s.dir.inPackage() {
			return cty.DynamicVal, hcl.Diagnostics{fault(at, `Invalid "path" attribute`, "path.cwd cannot be used here: %s.", errAbsolute)}
		}
		if dir, err := os.Getwd(); err == nil {
			return cty.StringVal(filepath.ToSlash(dir)), nil
		}
	}
	return cty.DynamicVal, hcl.Diagnostics{fault(at, `Invalid "path" attribute`, "There is no path.%s; there are path.module, path.root and path.cwd.", name)}
}

func (e *evaluation) workspace(s *scope, name string, at hcl.Range) (cty.Value, hcl.Diagnostics) {
	if name == "workspace" {
		return cty.StringVal(cmp.Or(s.tree.inputs.Workspace, "default")), nil
	}
	return cty.DynamicVal, hcl.Diagnostics{fault(at, `Invalid "terraform" attribute`, "There is no value %q. The only one is the workspace.", name)}
}

// arguments returns the evaluator for the arguments of a module's blocks. reported are the errors in the
// module's files.
func (r Reader) arguments(ctx context.Context, s *scope, reported hcl.Diagnostics) *arguments {
	e := &evaluation{ctx: ctx, reader: r, meter: eval.NewMeter(ctx, &s.tree.work), seen: make(map[string]bool)}
	for _, diag := range reported {
		e.seen[keyOf(diag)] = true
	}
	return &arguments{reader: r, scope: s, evaluation: e}
}

// compute evaluates an argument that is not a literal. The value is unknown after an error, also after
// one that was reported for another argument.
func (a *arguments) compute(arg argument, expr hclsyntax.Expression) (value cty.Value, diags hcl.Diagnostics) {
	defer func() {
		// Some expressions panic, such as arithmetic with infinite numbers.
		if r := recover(); r != nil {
			value, diags = cty.DynamicVal, hcl.Diagnostics{fault(expr.Range(), "Invalid expression", "The %s cannot be evaluated.", arg)}
		}
	}()
	e := a.evaluation
	if diags := a.reader.refuseReferences(arg, expr); diags.HasErrors() {
		return cty.DynamicVal, e.unseen(arg, diags)
	}
	e.path = nil
	a.scope.mu.Lock()
	defer a.scope.mu.Unlock()
	value, diags = e.expression(a.scope, expr)
	if !diags.HasErrors() {
		diags = a.reader.refuse(arg, value)
	}
	if diags.HasErrors() {
		return cty.DynamicVal, e.unseen(arg, diags)
	}
	diags = e.dynamicWarning(arg, value)
	value, _ = value.UnmarkDeep()
	return value, diags
}

// dynamicWarning warns of a reference at which the stock tool stops, although the value does not depend on it.
func (e *evaluation) dynamicWarning(arg argument, value cty.Value) hcl.Diagnostics {
	mark, ok := eval.DynamicOrigin(value)
	key := "dynamic\n" + mark.At.String()
	if !ok || e.seen[key] {
		return nil
	}
	e.seen[key] = true
	stops := "tofu stops at the reference"
	if e.reader.Terraform {
		stops = "terraform may stop at the reference"
	}
	return hcl.Diagnostics{warning("Value not known", fmt.Sprintf("The %s at %s comes from an expression that refers to %s, which is not known before the modules are installed. The result does not depend on it, but %s.",
		arg, position(arg.expr.Range()), mark.What, stops), mark.At)}
}

// refuseReferences reports references in an argument that Terraform does not allow, even if the value
// does not depend on them. Local values may have any.
func (r Reader) refuseReferences(arg argument, expr hclsyntax.Expression) hcl.Diagnostics {
	if !r.Terraform {
		return nil
	}
	for _, traversal := range expr.Variables() {
		switch root := traversal.RootName(); {
		case root == "var", root == "local", root == "path" && arg.name == "source":
			continue
		}
		return hcl.Diagnostics{fault(traversal.SourceRange(), "Reference not allowed",
			"The %s refers to %s, but it may refer only to constant variables and local values.", arg, reference(traversal))}
	}
	return nil
}

// unseen returns the diagnostics that were not reported for another argument. It adds which argument
// needs the value if the position is elsewhere.
func (e *evaluation) unseen(arg argument, diags hcl.Diagnostics) hcl.Diagnostics {
	var fresh hcl.Diagnostics
	own := arg.expr.Range()
	for _, diag := range diags {
		key := keyOf(diag)
		if e.seen[key] {
			continue
		}
		e.seen[key] = true
		if at := diag.Subject; at == nil || at.Filename != own.Filename || at.Start.Line < own.Start.Line || at.End.Line > own.End.Line {
			diag.Detail = strings.TrimSpace(fmt.Sprintf("%s The %s at %s needs the value.", diag.Detail, arg, position(own)))
		}
		fresh = append(fresh, diag)
	}
	return fresh
}

func keyOf(diag *hcl.Diagnostic) string {
	return fmt.Sprintf("%s\n%s\n%s", diag.Summary, diag.Detail, rangeOf(diag))
}

// refuse reports the reason why an argument cannot have a value. It never shows the value.
func (r Reader) refuse(a argument, value cty.Value) hcl.Diagnostics {
	for _, refused := range []struct {
		kind    eval.Kind
		summary string
		reason  string
	}{
		{eval.Sensitive, "Sensitive value not allowed", "is sensitive, and would be written into the lock and into messages"},
		{eval.Ephemeral, "Ephemeral value not allowed", "is ephemeral, and would be kept in the lock"},
	} {
		if marks := eval.Marks(value, refused.kind); len(marks) > 0 {
			return hcl.Diagnostics{fault(a.expr.Range(), refused.summary, "The %s depends on %s, which %s.", a, origin(marks[0]), refused.reason)}
		}
	}
	if value.IsWhollyKnown() {
		return nil
	}
	known := "Only variables, local values, path and terraform.workspace are."
	if r.Terraform {
		known = "Only literals and variables with const = true are, the latter since Terraform 1.15."
	}
	because := "is"
	if marks := append(eval.Marks(value, eval.Unknown), eval.Marks(value, eval.Dynamic)...); len(marks) > 0 {
		because = fmt.Sprintf("depends on %s, which is", origin(marks[0]))
	}
	diag := fault(a.expr.Range(), "Value not known", "The %s %s not known before the modules are installed. %s", a, because, known)
	if r.Terraform {
		diag.Extra = config.UnknownToTerraform{}
	}
	return hcl.Diagnostics{diag}
}

func origin(m eval.Mark) string {
	if m.At.Filename == "" {
		return m.What
	}
	return fmt.Sprintf("%s (%s)", m.What, position(m.At))
}
