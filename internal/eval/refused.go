package eval

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// RefusedError says that a function may not read a file, or may not look whether it exists. The
// Extra of the diagnostic is a *RefusedError.
type RefusedError struct {
	// Path is the name of the file in the configuration. It is "" if it is computed from a secret.
	Path string
	// Allowed is the directory whose files may be read, as an absolute path without symbolic links.
	// It is "" if no file may be read.
	Allowed string
	// Reason is the reason, as the end of a sentence.
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%q cannot be read by a source or a version: %s", e.Path, e.Reason)
}

// noteRefusal remembers a refused file for try and can, and returns the error.
func (m *Meter) noteRefusal(err error) error {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		m.refused = refused
	}
	return err
}

// showRefusals returns try or can such that it does not hide that a file was refused. Otherwise
// the result would differ from that of stock tools, and the address would be another one.
func (m *Meter) showRefusals(f function.Function) function.Function {
	check := func(err error, before *RefusedError) error {
		if m.refused != before {
			return m.refused
		}
		return err
	}
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			before := m.refused
			ty, err := f.ReturnTypeForValues(args)
			return ty, check(err, before)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			before := m.refused
			v, err := f.Call(args)
			return v, check(err, before)
		},
	})
}

// refusal returns the diagnostic for a function call that failed because a file was refused. It
// returns nil if diag has another cause. If secret is set, the diagnostic does not name the file.
func refusal(diag *hcl.Diagnostic, secret bool) *hcl.Diagnostic {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](diag)
	if !ok {
		return nil
	}
	refused, ok := errors.AsType[*RefusedError](call.FunctionCallError())
	if !ok {
		return nil
	}
	what := fmt.Sprintf("The file %q", refused.Path)
	if secret {
		what = "A file, whose name is sensitive or ephemeral,"
		refused = &RefusedError{Allowed: refused.Allowed, Reason: refused.Reason}
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "File not allowed",
		Detail:   fmt.Sprintf("%s cannot be read by a source or a version: %s.", what, refused.Reason),
		Subject:  diag.Subject,
		Context:  diag.Context,
		Extra:    refused,
	}
}
