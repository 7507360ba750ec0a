package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

type Scope struct {
	// Values has all names that the expression refers to.
	Values map[string]cty.Value
	// Files may be nil.
	Files Files
}

// maxErrors limits the errors of one expression: a loop could have one in each iteration.
const maxErrors = 3

// Evaluate evaluates an expression. Values that are not known, such as those of resources, must be
// [UnknownValue]s in the scope, which cause no errors. Diagnostics contain nothing that is computed from a
// secret.
func (m *Meter) Evaluate(expr hclsyntax.Expression, scope Scope) (cty.Value, hcl.Diagnostics) {
	functions, diags := m.functionsOf(expr, scope)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	value, diags := valueOf(m.meter(expr), &hcl.EvalContext{Variables: scope.Values, Functions: functions})
	if m.err != nil {
		return cty.DynamicVal, hcl.Diagnostics{m.diagnostic(expr.Range())}
	}
	if diags.HasErrors() {
		_, hides := functions["sensitive"]
		return cty.DynamicVal, report(diags, hides || scope.secretIn(expr))
	}
	return value, nil
}

// valueOf makes errors of HCL's panics on a few expressions, such as nested splats of elements that are null
// or not (fixed in version 2.24).
func valueOf(expr hclsyntax.Expression, ctx *hcl.EvalContext) (value cty.Value, diags hcl.Diagnostics) {
	defer func() {
		if recover() != nil {
			value, diags = cty.DynamicVal, hcl.Diagnostics{failure(expr.Range().Ptr(), "Invalid expression", "The expression cannot be evaluated.")}
		}
	}()
	return expr.Value(ctx)
}

// Constant evaluates an expression without references and function calls, such as a variable's default.
func (m *Meter) Constant(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	native, ok := expr.(hclsyntax.Expression)
	if !ok {
		return expr.Value(nil) // strings in JSON are verbatim
	}
	value, diags := valueOf(m.meter(native), nil)
	if m.err != nil {
		return cty.DynamicVal, hcl.Diagnostics{m.diagnostic(expr.Range())}
	}
	return value, report(diags, false)
}

func (s Scope) secretIn(expr hclsyntax.Expression) bool {
	return slices.ContainsFunc(expr.Variables(), func(traversal hcl.Traversal) bool {
		v, ok := s.Values[traversal.RootName()]
		return ok && Secret(v)
	})
}

// report returns the first errors of an expression without the values that HCL attaches, and without HCL's
// message if that may contain a secret.
func report(found hcl.Diagnostics, secret bool) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, diag := range found {
		if diag.Severity != hcl.DiagError || len(diags) == maxErrors {
			continue
		}
		if refused := refusal(diag, secret); refused != nil {
			diags = append(diags, refused)
			continue
		}
		detail := diag.Detail
		if secret {
			detail = "The expression cannot be evaluated. The reason is not shown, because the expression uses a sensitive or ephemeral value."
		}
		shown := failure(diag.Subject, diag.Summary, "%s", detail)
		shown.Context = diag.Context
		diags = append(diags, shown)
	}
	return diags
}

func failure(at *hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: at}
}

func (m *Meter) functionsOf(expr hclsyntax.Expression, scope Scope) (map[string]function.Function, hcl.Diagnostics) {
	var table map[string]function.Function // made for the first call
	found := make(map[string]function.Function)
	diags := hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		call, ok := node.(*hclsyntax.FunctionCallExpr)
		if !ok {
			return nil
		}
		if table == nil {
			table = m.functions(scope)
		}
		f, ok := table[strings.TrimPrefix(call.Name, "core::")]
		if !ok {
			return hcl.Diagnostics{noFunction(call)}
		}
		found[call.Name] = f
		return nil
	})
	return found, diags
}

func noFunction(call *hclsyntax.FunctionCallExpr) *hcl.Diagnostic {
	at, name := call.NameRange.Ptr(), strings.TrimPrefix(call.Name, "core::")
	switch {
	case isImpure(name):
		return failure(at, "Function not allowed", "The function %q returns another value in each run, so a later run would not find what was locked.", call.Name)
	case strings.HasPrefix(call.Name, "provider::"):
		return failure(at, "Function not allowed", "The function %q is a provider's, and providers are installed after the modules.", call.Name)
	case isUnsupported(name):
		return failure(at, "Function not supported", "Cotter does not have the function %q. Compute the value elsewhere and pass it in a variable.", call.Name)
	}
	return failure(at, "Call to unknown function", "There is no function named %q.", call.Name)
}
