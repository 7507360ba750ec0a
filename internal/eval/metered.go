package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// metered is a part of an expression whose evaluation is counted.
type metered struct {
	hclsyntax.Expression
	meter *Meter
}

// Value implements hclsyntax.Expression.
func (e *metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !e.meter.charge(nodeWork) {
		return cty.DynamicVal, hcl.Diagnostics{e.meter.diagnostic(e.Range())}
	}
	value, diags := e.Expression.Value(ctx)
	if !diags.HasErrors() && !e.meter.chargeValue(value) {
		return cty.DynamicVal, hcl.Diagnostics{e.meter.diagnostic(e.Range())}
	}
	return value, diags
}

// meter returns a copy of an expression in which every part is metered, because loops evaluate
// their parts many times.
func (m *Meter) meter(expr hclsyntax.Expression) hclsyntax.Expression {
	if expr == nil {
		return nil
	}
	return &metered{m.copy(expr), m}
}

func (m *Meter) all(exprs []hclsyntax.Expression) []hclsyntax.Expression {
	copied := make([]hclsyntax.Expression, len(exprs))
	for i, expr := range exprs {
		copied[i] = m.meter(expr)
	}
	return copied
}

// copy copies an expression with metered parts. It assumes that unknown kinds of expressions have
// no parts.
func (m *Meter) copy(expr hclsyntax.Expression) hclsyntax.Expression {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		c := *e
		c.Expression = m.meter(e.Expression)
		return &c
	case *hclsyntax.TemplateWrapExpr:
		c := *e
		c.Wrapped = m.meter(e.Wrapped)
		return &c
	case *hclsyntax.TemplateExpr:
		c := *e
		c.Parts = m.all(e.Parts)
		return &c
	case *hclsyntax.TemplateJoinExpr:
		c := *e
		c.Tuple = m.meter(e.Tuple)
		return &c
	case *hclsyntax.FunctionCallExpr:
		c := *e
		c.Args = m.all(e.Args)
		return &c
	case *hclsyntax.TupleConsExpr:
		c := *e
		c.Exprs = m.all(e.Exprs)
		return &c
	}
	return m.copyOther(expr)
}

func (m *Meter) copyOther(expr hclsyntax.Expression) hclsyntax.Expression {
	switch e := expr.(type) {
	case *hclsyntax.RelativeTraversalExpr:
		c := *e
		c.Source = m.meter(e.Source)
		return &c
	case *hclsyntax.IndexExpr:
		c := *e
		c.Collection, c.Key = m.meter(e.Collection), m.meter(e.Key)
		return &c
	case *hclsyntax.SplatExpr:
		c := *e
		c.Source, c.Each = m.meter(e.Source), m.meter(e.Each)
		return &c
	case *hclsyntax.ConditionalExpr:
		c := *e
		c.Condition, c.TrueResult, c.FalseResult = m.meter(e.Condition), m.meter(e.TrueResult), m.meter(e.FalseResult)
		return &c
	case *hclsyntax.BinaryOpExpr:
		c := *e
		c.LHS, c.RHS = m.meter(e.LHS), m.meter(e.RHS)
		return &c
	case *hclsyntax.UnaryOpExpr:
		c := *e
		c.Val = m.meter(e.Val)
		return &c
	case *hclsyntax.ForExpr:
		c := *e
		c.CollExpr, c.KeyExpr = m.meter(e.CollExpr), m.meter(e.KeyExpr)
		c.ValExpr, c.CondExpr = m.meter(e.ValExpr), m.meter(e.CondExpr)
		return &c
	case *hclsyntax.ObjectConsExpr:
		return m.copyObject(e)
	}
	return expr
}

func (m *Meter) copyObject(e *hclsyntax.ObjectConsExpr) *hclsyntax.ObjectConsExpr {
	c := *e
	c.Items = make([]hclsyntax.ObjectConsItem, len(e.Items))
	for i, item := range e.Items {
		c.Items[i] = hclsyntax.ObjectConsItem{KeyExpr: m.copyKey(item.KeyExpr), ValueExpr: m.meter(item.ValueExpr)}
	}
	return &c
}

// copyKey copies the key of an object's attribute. A bare name must keep its type, because it is
// not a reference.
func (m *Meter) copyKey(expr hclsyntax.Expression) hclsyntax.Expression {
	key, ok := expr.(*hclsyntax.ObjectConsKeyExpr)
	if !ok {
		return m.meter(expr)
	}
	if _, bare := key.Wrapped.(*hclsyntax.ScopeTraversalExpr); bare || hcl.ExprAsKeyword(key.Wrapped) != "" {
		return &metered{key, m}
	}
	c := *key
	c.Wrapped = m.meter(key.Wrapped)
	return &c
}
