package hcldepth

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// ErrorText returns the errors among diagnostics, or else the warnings, one a line: "main.tf:3,5-8: Summary;
// Detail". The Error method of hcl.Diagnostics names only the first one, and counts warnings too.
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

// ErrorOf returns an error with the text of [ErrorText] that wraps the diagnostics and the errors in their
// Extra, or nil if there are only warnings.
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

// ErrorAs is errors.As for the Extra of diagnostics.
func ErrorAs(diags hcl.Diagnostics, target any) bool {
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		err, ok := diag.Extra.(error)
		return ok && errors.As(err, target)
	})
}

func ErrorIs(diags hcl.Diagnostics, target error) bool {
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		err, ok := diag.Extra.(error)
		return ok && errors.Is(err, target)
	})
}
