package configread

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/installer/config"
)

func unreadableDirectory(dir Dir, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Unreadable module directory",
		Detail:   fmt.Sprintf("The module directory %q could not be read: %s.", dir.display(""), cause(err)),
		Extra:    err,
	}
}

// unreadable returns the diagnostic for a directory that could not be listed, or that was not read to
// the end because ctx has ended, or nil.
func unreadable(ctx context.Context, dir Dir, err error) hcl.Diagnostics {
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil:
		return hcl.Diagnostics{unreadableDirectory(dir, err)}
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Module installation was interrupted",
		Detail:   fmt.Sprintf("Reading the module directory %q was stopped: %s.", dir.display(""), err),
		Extra:    err,
	}}
}

func unreadableFile(display string, err error) *hcl.Diagnostic {
	diag := fault(*atLine(display, 1, 1), "Unreadable configuration file", "The configuration file %q could not be read: %s.", display, causeText(err))
	diag.Extra = err
	return diag
}

// cause removes the path from an error, because messages have the path as the user knows it.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

func causeText(err error) string {
	if refused, ok := errors.AsType[*config.FileReadError](err); ok {
		return refused.Reason
	}
	return cause(err).Error()
}

func atLine(display string, line, column int) *hcl.Range {
	pos := hcl.Pos{Line: line, Column: column}
	return &hcl.Range{Filename: display, Start: pos, End: pos}
}

const textHidden = "text of the file is not shown: it is not in the repository of the root module, or a link gives it another suffix"

// withoutText removes details, which can have words from the file, of diagnostics about files of a directory
// whose text may not be shown. It keeps why a file was not read.
func (t *Tree) withoutText(dir Dir, diags hcl.Diagnostics) {
	for _, diag := range diags {
		wrong, isProvider := diag.Extra.(*config.ProviderError)
		if _, unread := diag.Extra.(error); unread && !isProvider || diag.Subject == nil || t.mayRepeat(dir, diag.Subject.Filename) {
			continue
		}
		diag.Detail = "The " + textHidden + "."
		if isProvider {
			diag.Extra = &config.ProviderError{Provider: wrong.Provider, RequiredBy: wrong.RequiredBy, Err: errors.New("the " + textHidden)}
		}
	}
}

func (t *Tree) mayRepeat(dir Dir, display string) bool {
	own, err := t.own()
	if err != nil {
		return false
	}
	name, err := filepath.Rel(filepath.FromSlash(dir.display("")), filepath.FromSlash(display))
	if err != nil {
		return false
	}
	name, err = filepath.Abs(filepath.Join(dir.Path, name))
	return err == nil && own.MayRepeat(name)
}

func limitSyntaxErrors(diags hcl.Diagnostics, display string) hcl.Diagnostics {
	if len(diags) <= maxSyntaxErrors {
		return diags
	}
	return append(diags[:maxSyntaxErrors:maxSyntaxErrors],
		fault(*atLine(display, 1, 1), "Too many errors", "The file has %d more errors, which are not shown.", len(diags)-maxSyntaxErrors))
}

func missingSource(b *block) *hcl.Diagnostic {
	return fault(b.header, "Missing required argument", "Module %q has no source argument, which says where the module comes from.", b.name)
}

func (a argument) wrongType(found string) *hcl.Diagnostic {
	return fault(a.expr.Range(), "Unsuitable value type", "The %s must be a string, not %s.", a, found)
}

// notLiteral shows a reference in an argument, but never another part, which may contain a credential.
func (a argument) notLiteral(rest hclsyntax.Expression) *hcl.Diagnostic {
	diag := fault(rest.Range(), "Expression not allowed", "The %s is computed, but cannot be evaluated before the modules are installed. Write it as a literal string.", a)
	if variables := rest.Variables(); len(variables) > 0 {
		diag = fault(variables[0].SourceRange(), "Variables not allowed", "The %s refers to %s, which cannot be evaluated here. Write it as a literal string.", a, reference(variables[0]))
	}
	diag.Context = a.expr.Range().Ptr()
	return diag
}

const maxReferenceNames = 3

// reference returns the beginning of a reference as the user wrote it, up to the first index.
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
