package eval

import (
	"context"
	"errors"
	"math"
	"math/big"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/installer/config"
)

// A unit of work is about a byte of a string or a tenth of a microsecond. Real addresses take a few hundred.
const (
	// maxWork is for one module: about half a second and 30 MB.
	maxWork = 4 << 20
	// maxTreeWork is for all modules of a tree, because a hostile package may be called thousands of times.
	maxTreeWork = 256 << 20
	// nodeWork is for one part of an expression, without its value.
	nodeWork = 8
)

var ErrTooMuchWork = errors.New("evaluating it would take too much time or memory")

// Tree counts the work of all modules of a tree.
type Tree struct{ done atomic.Int64 }

// Meter limits the work for the expressions of one module. It is not safe for concurrent use.
type Meter struct {
	ctx  context.Context
	tree *Tree
	left int64
	err  error // why evaluation stopped; it is final
	// refused is the last file that a function was refused.
	refused *config.FileReadError
}

func NewMeter(ctx context.Context, tree *Tree) *Meter {
	return &Meter{ctx: ctx, tree: tree, left: maxWork}
}

// Err returns ErrTooMuchWork if a limit was reached, or the context's error if it has ended.
func (m *Meter) Err() error { return m.err }

// charge counts work before it is done, and reports whether it may be done. It never returns true after
// false, so that try(...) cannot continue with another expression.
func (m *Meter) charge(units int64) bool {
	if m.err != nil {
		return false
	}
	if err := m.ctx.Err(); err != nil {
		m.err = err
		return false
	}
	if units > m.left || m.tree.done.Add(units) > maxTreeWork {
		m.err = ErrTooMuchWork
		return false
	}
	m.left -= units
	return true
}

func (m *Meter) chargeValue(v cty.Value) bool {
	s := measure(v, m.left)
	return m.charge(s.weight)
}

func (m *Meter) diagnostic(at hcl.Range) *hcl.Diagnostic {
	diag := failure(&at, "Evaluation stopped", "The expression was not evaluated: %s.", m.err)
	if errors.Is(m.err, ErrTooMuchWork) {
		diag = failure(&at, "Expression too expensive", "Evaluating the expression would take more time or memory than a source address or a version is worth.")
	}
	diag.Extra = m.err
	return diag
}

type metered struct {
	hclsyntax.Expression
	meter *Meter
	marks cty.ValueMarks // of the values so far, for a keeping expression
	// plain removes the marks from unknown values.
	plain bool
}

func (e *metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if !e.meter.charge(nodeWork) {
		return cty.DynamicVal, hcl.Diagnostics{e.meter.diagnostic(e.Range())}
	}
	value, diags := e.Expression.Value(ctx)
	if !diags.HasErrors() && !e.meter.chargeValue(value) {
		return cty.DynamicVal, hcl.Diagnostics{e.meter.diagnostic(e.Range())}
	}
	for mark := range value.Marks() {
		if e.marks == nil {
			e.marks = make(cty.ValueMarks)
		}
		e.marks[mark] = struct{}{}
	}
	if e.plain && !value.IsKnown() {
		value, _ = value.Unmark()
	}
	return value, diags
}

// meter returns a copy of an expression in which every part is metered: loops evaluate parts many times.
func (m *Meter) meter(expr hclsyntax.Expression) hclsyntax.Expression {
	if expr == nil {
		return nil
	}
	return &metered{Expression: m.copy(expr), meter: m}
}

func (m *Meter) all(exprs []hclsyntax.Expression) []hclsyntax.Expression {
	copied := make([]hclsyntax.Expression, len(exprs))
	for i, expr := range exprs {
		copied[i] = m.meter(expr)
	}
	return copied
}

// copy assumes that unknown kinds of expressions have no parts.
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
	case *hclsyntax.RelativeTraversalExpr:
		c := *e
		c.Source = m.meter(e.Source)
		return keep(&c, c.Source)
	case *hclsyntax.ScopeTraversalExpr:
		return &reference{e}
	case *hclsyntax.IndexExpr:
		c := *e
		c.Collection, c.Key = m.meter(e.Collection), m.meter(e.Key)
		return keep(&c, c.Collection, c.Key)
	case *hclsyntax.SplatExpr:
		c := *e
		// HCL 2.20 panics if the source is unknown and has marks.
		source := &metered{Expression: m.copy(e.Source), meter: m, plain: true}
		c.Source, c.Each = source, m.meter(e.Each)
		return keep(&c, source)
	case *hclsyntax.ConditionalExpr:
		c := *e
		c.Condition, c.TrueResult, c.FalseResult = m.meter(e.Condition), m.meter(e.TrueResult), m.meter(e.FalseResult)
		return keep(&c, c.Condition, c.TrueResult, c.FalseResult)
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
		return keep(&c, c.CollExpr, c.KeyExpr, c.CondExpr)
	case *hclsyntax.ObjectConsExpr:
		c := *e
		c.Items = make([]hclsyntax.ObjectConsItem, len(e.Items))
		for i, item := range e.Items {
			c.Items[i] = hclsyntax.ObjectConsItem{KeyExpr: m.copyKey(item.KeyExpr), ValueExpr: m.meter(item.ValueExpr)}
		}
		return &c
	}
	return expr
}

// copyKey keeps the type of a bare name, because it is not a reference.
func (m *Meter) copyKey(expr hclsyntax.Expression) hclsyntax.Expression {
	key, ok := expr.(*hclsyntax.ObjectConsKeyExpr)
	if !ok {
		return m.meter(expr)
	}
	if _, bare := key.Wrapped.(*hclsyntax.ScopeTraversalExpr); bare || hcl.ExprAsKeyword(key.Wrapped) != "" {
		return &metered{Expression: key, meter: m}
	}
	c := *key
	c.Wrapped = m.meter(key.Wrapped)
	return &c
}

const (
	// elementWeight is the weight of a value without its strings.
	elementWeight = 16
	// maxString is in bytes. Converting a string to a number takes time with the square of its length.
	maxString = 256 << 10
)

type size struct {
	// weight is the number of bytes in strings plus elementWeight for each value.
	weight   int64
	elements int64 // at all depths
}

// measure stops when the weight exceeds the limit: parts can be shared, so a value may have more than would
// fit into memory.
func measure(v cty.Value, limit int64) size {
	var s size
	s.add(v, limit)
	return s
}

func (s *size) add(v cty.Value, limit int64) {
	v, _ = v.Unmark()
	s.elements++
	s.weight += elementWeight
	ty := v.Type()
	if s.weight > limit || v.IsNull() || !v.IsKnown() {
		return
	}
	switch {
	case ty == cty.String:
		s.weight += int64(len(v.AsString()))
		if len(v.AsString()) > maxString {
			s.weight = limit + 1
		}
	case ty == cty.Number:
		// Formatting a number, as for comparisons, takes time with the square of its length.
		n := digits(v.AsBigFloat())
		s.weight += n * n / elementWeight
	case ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType():
		s.addElements(v, limit)
	}
}

func (s *size) addElements(v cty.Value, limit int64) {
	n := int64(v.LengthInt())
	if n > limit { // even empty elements have a weight
		s.weight = limit + 1
		return
	}
	if v.Type().IsTupleType() || v.Type().IsObjectType() {
		// Converting the value to a list or a map may compare the types of any two elements.
		if s.weight += n * n / 4; s.weight > limit {
			return
		}
	}
	for it := v.ElementIterator(); it.Next() && s.weight <= limit; {
		key, element := it.Element()
		if key.Type() == cty.String && key.IsKnown() {
			key, _ = key.Unmark()
			s.weight += int64(len(key.AsString()))
		}
		s.add(element, limit)
	}
}

// digits returns an upper bound of Digits: "1e999999999" is short, but its value has many.
func digits(f *big.Float) int64 {
	if f.IsInf() {
		return 0
	}
	const digitsPerBit = 0.302
	exponent := math.Abs(float64(f.MantExp(nil)))
	return int64(exponent * digitsPerBit)
}

// Digits returns the length of a number in decimal notation or slightly more, and 0 for other values.
func Digits(v cty.Value) int64 {
	if v.Type() != cty.Number || v.IsNull() || !v.IsKnown() {
		return 0
	}
	return digits(v.AsBigFloat())
}
