package configs

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/eval"
)

// arguments returns the evaluator for the arguments of a module's blocks. reported are the errors
// that have been found in the module's files so far.
func (r Reader) arguments(ctx context.Context, s *Scope, reported hcl.Diagnostics) *arguments {
	e := &evaluation{ctx: ctx, reader: r, meter: eval.NewMeter(ctx, &s.tree.work), seen: make(map[string]bool)}
	for _, diag := range reported {
		e.seen[keyOf(diag)] = true
	}
	return &arguments{reader: r, scope: s, evaluation: e}
}

// compute evaluates an argument that is not a literal. The value is unknown if there are errors,
// including errors that were already reported for another argument.
func (a *arguments) compute(arg argument, expr hclsyntax.Expression) (value cty.Value, diags hcl.Diagnostics) {
	defer func() {
		// Some expressions panic, such as arithmetic with infinite numbers.
		if r := recover(); r != nil {
			value, diags = cty.DynamicVal, hcl.Diagnostics{fault("Invalid expression", fmt.Sprintf("The %s cannot be evaluated.", arg), expr.Range())}
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
	value, _ = value.UnmarkDeep()
	return value, nil
}

// refuseReferences reports the references in an argument that the terraform dialect does not
// allow, even if the value does not depend on them. Local values may have any references.
func (r Reader) refuseReferences(arg argument, expr hclsyntax.Expression) hcl.Diagnostics {
	if !r.Terraform {
		return nil
	}
	for _, traversal := range expr.Variables() {
		switch root := traversal.RootName(); {
		case root == "var", root == "local", root == "path" && arg.name == "source":
			continue
		}
		return hcl.Diagnostics{fault("Reference not allowed",
			fmt.Sprintf("The %s refers to %s, but it may refer only to constant variables and local values.", arg, reference(traversal)), traversal.SourceRange())}
	}
	return nil
}

// unseen returns the diagnostics that have not been reported for another argument yet. If a
// diagnostic's place is outside the argument, it adds which argument needs the value.
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
			diag.Detail = strings.TrimSpace(fmt.Sprintf("%s The %s at %s needs the value.", diag.Detail, arg, place(own)))
		}
		fresh = append(fresh, diag)
	}
	return fresh
}

// keyOf returns a key that is equal for diagnostics with the same text and place.
func keyOf(diag *hcl.Diagnostic) string {
	return fmt.Sprintf("%s\n%s\n%s", diag.Summary, diag.Detail, placeOf(diag))
}

// UnknownToTerraform is the Extra of a diagnostic (see [hcl.DiagnosticExtra]) for a value that
// Terraform does not know before the modules are installed. OpenTofu may know it.
type UnknownToTerraform struct{}

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
			return hcl.Diagnostics{fault(refused.summary, fmt.Sprintf("The %s depends on %s, which %s.", a, origin(marks[0]), refused.reason), a.expr.Range())}
		}
	}
	if value.IsWhollyKnown() {
		return nil
	}
	known := "Only variables, local values, path and terraform.workspace are."
	if r.Terraform {
		known = "Only literals and variables with const = true are, the latter since Terraform 1.15."
	}
	detail := fmt.Sprintf("The %s is not known before the modules are installed. %s", a, known)
	if marks := eval.Marks(value, eval.Unknown); len(marks) > 0 {
		detail = fmt.Sprintf("The %s depends on %s, which is not known before the modules are installed. %s", a, origin(marks[0]), known)
	}
	diag := fault("Value not known", detail, a.expr.Range())
	if r.Terraform {
		diag.Extra = UnknownToTerraform{}
	}
	return hcl.Diagnostics{diag}
}

func origin(m eval.Mark) string {
	if m.At.Filename == "" {
		return m.What
	}
	return fmt.Sprintf("%s (%s)", m.What, place(m.At))
}
