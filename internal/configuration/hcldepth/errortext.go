package hcldepth

import (
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

func (e *diagnosticsError) Error() string   { return ErrorText(e.diags) }
func (e *diagnosticsError) Unwrap() []error { return Errors(e.diags) }

// Errors returns the diagnostics as one error, and the errors in their Extra.
func Errors(diags hcl.Diagnostics) []error {
	all := []error{diags}
	for _, diag := range diags {
		if err, ok := diag.Extra.(error); ok {
			all = append(all, err)
		}
	}
	return all
}
