package eval

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Limits of evaluation in units of work. A unit is about a byte of a string or a tenth of a
// microsecond. Real addresses take a few hundred units.
const (
	// maxWork is the maximum work for one module: about half a second and 30 MB.
	maxWork = 4 << 20
	// maxTreeWork is the maximum work for all modules of a tree. A hostile package may be called
	// thousands of times.
	maxTreeWork = 256 << 20
	// nodeWork is the work of evaluating one part of an expression, without its value.
	nodeWork = 8
)

// ErrTooMuchWork says that an expression was not evaluated because it would take too
// much time or memory.
var ErrTooMuchWork = errors.New("evaluating it would take too much time or memory")

// Tree counts the work of all modules of a tree. The zero value is ready to use.
type Tree struct{ done atomic.Int64 }

// Meter limits the work of evaluating the expressions of one module. It is not safe for
// concurrent use.
type Meter struct {
	ctx  context.Context
	tree *Tree
	left int64
	err  error // why evaluation stopped; it is final
	// refused is the last file that a function was refused.
	refused *RefusedError
}

// NewMeter returns a meter that also counts its work in a tree, and that stops when ctx ends.
func NewMeter(ctx context.Context, tree *Tree) *Meter {
	return &Meter{ctx: ctx, tree: tree, left: maxWork}
}

// Err returns ErrTooMuchWork if a limit was reached, the context's error if the context has
// ended, and nil otherwise.
func (m *Meter) Err() error { return m.err }

// charge counts work before it is done, and reports whether it may be done. Once it has returned
// false, it always returns false, so that try(...) cannot continue with another expression.
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

// chargeValue counts the size of a value. It stops walking the value when the limit is reached.
func (m *Meter) chargeValue(v cty.Value) bool {
	s := measure(v, m.left)
	return m.charge(s.weight)
}

// diagnostic returns the diagnostic for a meter that has stopped.
func (m *Meter) diagnostic(at hcl.Range) *hcl.Diagnostic {
	diag := &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Evaluation stopped",
		Detail:   "The expression was not evaluated: " + m.err.Error() + ".",
		Subject:  &at,
		Extra:    m.err,
	}
	if errors.Is(m.err, ErrTooMuchWork) {
		diag.Summary = "Expression too expensive"
		diag.Detail = "Evaluating the expression would take more time or memory than a source address or a version is worth."
	}
	return diag
}
