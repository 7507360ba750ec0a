package hcldepth

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// ErrorText returns the errors among diagnostics, one a line: "main.tf:3,5-8: Summary; Detail". If there
// are no errors, it returns the warnings. The Error method of hcl.Diagnostics names only the first one,
// and counts warnings too.
func ErrorText(diags hcl.Diagnostics) string {
	var lines []string
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError || !diags.HasErrors() {
			lines = append(lines, errorLine(diag))
		}
	}
	if len(lines) == 0 {
		return "no diagnostics"
	}
	return strings.Join(lines, "\n")
}

func errorLine(diag *hcl.Diagnostic) string {
	text := diag.Summary
	if diag.Detail != "" {
		text += "; " + diag.Detail
	}
	if diag.Subject == nil {
		return text
	}
	return diag.Subject.String() + ": " + text
}

// ErrorOf returns the error for diagnostics, or nil if they have no errors. Its text is that of
// [ErrorText]. It wraps the diagnostics, and errors.As finds the errors in their Extra.
func ErrorOf(diags hcl.Diagnostics) error {
	if !diags.HasErrors() {
		return nil
	}
	return &diagnosticsError{diags}
}

type diagnosticsError struct{ diags hcl.Diagnostics }

func (e *diagnosticsError) Error() string        { return ErrorText(e.diags) }
func (e *diagnosticsError) Unwrap() error        { return e.diags }
func (e *diagnosticsError) As(target any) bool   { return ErrorAs(e.diags, target) }
func (e *diagnosticsError) Is(target error) bool { return ErrorIs(e.diags, target) }

// ErrorAs sets target to the first error of its type in the Extra of diagnostics, as errors.As does.
func ErrorAs(diags hcl.Diagnostics, target any) bool {
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		err, ok := diag.Extra.(error)
		return ok && errors.As(err, target)
	})
}

// ErrorIs reports whether an error in the Extra of diagnostics is or wraps target, as errors.Is does.
func ErrorIs(diags hcl.Diagnostics, target error) bool {
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		err, ok := diag.Extra.(error)
		return ok && errors.Is(err, target)
	})
}
