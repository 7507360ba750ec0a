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

// arguments returns what evaluates the arguments of a module's blocks. In the
// terraform dialect those can refer to nothing. reported are the errors that
// were found in the module's files so far.
func (r Reader) arguments(ctx context.Context, s *Scope, reported hcl.Diagnostics) *arguments {
	if r.Terraform {
		return &arguments{reader: r}
	}
	e := &evaluation{ctx: ctx, reader: r, meter: eval.NewMeter(ctx, &s.tree.work), seen: make(map[string]bool)}
	for _, diag := range reported {
		e.seen[keyOf(diag)] = true
	}
	return &arguments{reader: r, scope: s, evaluation: e}
}

// compute evaluates an argument that is no literal. The value is unknown beside
// errors, and where the error was reported for another argument.
func (a *arguments) compute(arg argument, expr hclsyntax.Expression) (value cty.Value, diags hcl.Diagnostics) {
	defer func() {
		// The expression may be hostile, and arithmetic with infinite numbers
		// panics, to name one.
		if r := recover(); r != nil {
			value, diags = cty.DynamicVal, hcl.Diagnostics{fault("Invalid expression", fmt.Sprintf("The %s cannot be evaluated.", arg), expr.Range())}
		}
	}()
	e := a.evaluation
	e.path = nil
	a.scope.mu.Lock()
	defer a.scope.mu.Unlock()
	value, diags = e.expression(a.scope, expr)
	if !diags.HasErrors() {
		diags = arg.refuse(value)
	}
	if diags.HasErrors() {
		return cty.DynamicVal, e.unseen(arg, diags)
	}
	value, _ = value.UnmarkDeep()
	return value, nil
}

// unseen are the diagnostics that were not reported for another argument
// before. Those from elsewhere say which argument needs the value.
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

// keyOf is the same for two diagnostics that say the same.
func keyOf(diag *hcl.Diagnostic) string {
	return fmt.Sprintf("%s\n%s\n%s", diag.Summary, diag.Detail, placeOf(diag))
}

// refuse says why a value cannot be that of an argument. It never shows the
// value.
func (a argument) refuse(value cty.Value) hcl.Diagnostics {
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
	detail := fmt.Sprintf("The %s is not known before the configuration is applied.", a)
	if marks := eval.Marks(value, eval.Unknown); len(marks) > 0 {
		detail = fmt.Sprintf("The %s depends on %s, which is not known before the modules are installed. Only variables, local values, path and terraform.workspace are.", a, origin(marks[0]))
	}
	return hcl.Diagnostics{fault("Value not known", detail, a.expr.Range())}
}

func origin(m eval.Mark) string {
	if m.At.Filename == "" {
		return m.What
	}
	return fmt.Sprintf("%s (%s)", m.What, place(m.At))
}
