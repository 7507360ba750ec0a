package diagtext

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Text returns the errors among diagnostics, one a line: "main.tf:3,5-8: Summary; Detail". If there
// are no errors, it returns the warnings.
func Text(diags hcl.Diagnostics) string {
	var lines []string
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError || !diags.HasErrors() {
			lines = append(lines, line(diag))
		}
	}
	if len(lines) == 0 {
		return "no diagnostics"
	}
	return strings.Join(lines, "\n")
}

func line(diag *hcl.Diagnostic) string {
	text := diag.Summary
	if diag.Detail != "" {
		text += "; " + diag.Detail
	}
	if diag.Subject == nil {
		return text
	}
	return diag.Subject.String() + ": " + text
}

// Err returns the error for diagnostics, or nil if they have no errors. Its text is that of
// [Text]. It wraps the diagnostics, and errors.As finds the errors in their Extra.
func Err(diags hcl.Diagnostics) error {
	if !diags.HasErrors() {
		return nil
	}
	return &diagnosticsError{diags}
}

type diagnosticsError struct{ diags hcl.Diagnostics }

func (e *diagnosticsError) Error() string        { return Text(e.diags) }
func (e *diagnosticsError) Unwrap() error        { return e.diags }
func (e *diagnosticsError) As(target any) bool   { return As(e.diags, target) }
func (e *diagnosticsError) Is(target error) bool { return Is(e.diags, target) }

// As sets target to the first error of its type in the Extra of diagnostics, as errors.As does.
func As(diags hcl.Diagnostics, target any) bool {
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		err, ok := diag.Extra.(error)
		return ok && errors.As(err, target)
	})
}

// Is reports whether an error in the Extra of diagnostics is or wraps target, as errors.Is does.
func Is(diags hcl.Diagnostics, target error) bool {
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		err, ok := diag.Extra.(error)
		return ok && errors.Is(err, target)
	})
}
