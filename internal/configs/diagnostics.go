package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/internal/eval"
)

func unreadableDirectory(dir Dir, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Unreadable module directory",
		Detail:   fmt.Sprintf("The module directory %q could not be read: %s.", dir.display(""), cause(err)),
		Extra:    err,
	}
}

func interrupted(dir Dir, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Module installation was interrupted",
		Detail:   fmt.Sprintf("Reading the module directory %q was stopped: %s.", dir.display(""), err),
		Extra:    err,
	}
}

func unreadableFile(display string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Unreadable configuration file",
		Detail:   fmt.Sprintf("The configuration file %q could not be read: %s.", display, causeText(err)),
		Subject:  atLine(display, 1, 1),
		Extra:    err,
	}
}

// cause returns an error without its path, because the message already has the path as the user
// knows it.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// causeText is the text of an error in a message that already has the path.
func causeText(err error) string {
	if refused, ok := errors.AsType[*eval.RefusedError](err); ok {
		return refused.Reason
	}
	return cause(err).Error()
}

// atLine returns a position without a byte offset.
func atLine(display string, line, column int) *hcl.Range {
	pos := hcl.Pos{Line: line, Column: column}
	return &hcl.Range{Filename: display, Start: pos, End: pos}
}

func limitSyntaxErrors(diags hcl.Diagnostics, display string) hcl.Diagnostics {
	if len(diags) <= maxSyntaxErrors {
		return diags
	}
	return append(diags[:maxSyntaxErrors:maxSyntaxErrors], &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Too many errors",
		Detail:   fmt.Sprintf("The file has %d more errors, which are not shown.", len(diags)-maxSyntaxErrors),
		Subject:  atLine(display, 1, 1),
	})
}

// ConstraintError is the Extra of the diagnostic about a version constraint of a provider that does
// not parse.
type ConstraintError struct {
	// Requirement is the place that has the constraint.
	Requirement ProviderRequirement
	Err         error
}

func (e *ConstraintError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the constraint.
func (e *ConstraintError) Unwrap() error { return e.Err }

func invalidName(name string, at hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Invalid module instance name",
		Detail: fmt.Sprintf("%q cannot be the name of a module call: it must begin with a letter or an underscore and may hold only letters, digits, underscores and dashes.",
			name),
		Subject: &at,
	}
}

func missingSource(b *block) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Missing required argument",
		Detail:   fmt.Sprintf("Module %q has no source argument, which says where the module comes from.", b.name),
		Subject:  b.header.Ptr(),
	}
}

func (a argument) wrongType(found string) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Unsuitable value type",
		Detail:   fmt.Sprintf("The %s must be a string, not %s.", a, found),
		Subject:  a.expr.Range().Ptr(),
	}
}

func (a argument) tooLong() *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Template too long",
		Detail:   fmt.Sprintf("The %s is a template of more than %d bytes.", a, eval.MaxTemplate),
		Subject:  a.expr.Range().Ptr(),
	}
}

// notLiteral reports the part of an argument that is not a literal. It shows a reference, but
// never another part of the expression, because that may contain a credential.
func (a argument) notLiteral(rest hclsyntax.Expression) *hcl.Diagnostic {
	diag := &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Expression not allowed",
		Detail:   fmt.Sprintf("The %s is computed, but cannot be evaluated before the modules are installed. Write it as a literal string.", a),
		Subject:  rest.Range().Ptr(),
		Context:  a.expr.Range().Ptr(),
	}
	if variables := rest.Variables(); len(variables) > 0 {
		diag.Summary = "Variables not allowed"
		diag.Detail = fmt.Sprintf("The %s refers to %s, which cannot be evaluated here. Write it as a literal string.", a, reference(variables[0]))
		diag.Subject = variables[0].SourceRange().Ptr()
	}
	return diag
}

// maxReferenceNames is the maximum number of names of a reference that a message shows.
const maxReferenceNames = 3

// reference returns a reference as the user wrote it, up to the first index.
func reference(traversal hcl.Traversal) string {
	names := []string{traversal.RootName()}
	for _, step := range traversal.SimpleSplit().Rel {
		attr, ok := step.(hcl.TraverseAttr)
		if !ok || len(names) == maxReferenceNames {
			break
		}
		names = append(names, attr.Name)
	}
	return strings.Join(names, ".")
}
