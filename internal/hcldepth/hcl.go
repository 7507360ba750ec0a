package hcldepth

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ParseConfig is hclsyntax.ParseConfig for untrusted files. The file is nil if parsing it would
// take too much memory or time, if it is nested too deeply, if it exceeds the budget and has a
// syntax error, or if ctx was done before it was parsed. The Extra of the diagnostic is then a
// [*SizeError], a [*DepthError], or the error of ctx.
func ParseConfig(ctx context.Context, src []byte, filename string, start hcl.Pos) (*hcl.File, hcl.Diagnostics) {
	return parseWithin(ctx, src, filename, start, budget)
}

func parseWithin(ctx context.Context, src []byte, filename string, start hcl.Pos, budget int) (*hcl.File, hcl.Diagnostics) {
	release, diags := admit(ctx, src, filename, start)
	defer release()
	if diags.HasErrors() {
		return nil, diags
	}
	if diags := checkPieces(ctx, src, filename, start, budget); diags.HasErrors() {
		return nil, diags
	}
	file, diags := hclsyntax.ParseConfig(src, filename, start)
	if tooDeep := checkTree(src, file.Body.(*hclsyntax.Body)); tooDeep.HasErrors() {
		return nil, tooDeep
	}
	return file, diags
}

// admit waits until src may be parsed, and checks that this takes neither too much memory nor too much time.
// The caller must call release in any case.
func admit(ctx context.Context, src []byte, filename string, start hcl.Pos) (release func(), diags hcl.Diagnostics) {
	release, diags = reserve(ctx, src, filename)
	if diags.HasErrors() {
		return func() {}, diags
	}
	return release, checkTokens(src, filename, start)
}

// ParseExpression is hclsyntax.ParseExpression for untrusted text. The expression is nil if it
// exceeds a limit of [ParseConfig], or if ctx is done.
func ParseExpression(ctx context.Context, src []byte, filename string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	release, diags := admit(ctx, src, filename, start)
	defer release()
	if diags.HasErrors() {
		return nil, diags
	}
	if fitting(src, budget) < len(src) {
		attribute := slices.Concat([]byte("x = ("), src, []byte("\n)\n")) // in parentheses, because newlines are allowed
		if diags := checkPieces(ctx, attribute, filename, start, budget); diags.HasErrors() {
			if err := ctx.Err(); err != nil {
				return nil, interrupted(filename, err)
			}
			return nil, tooDeep(hcl.Range{Filename: filename, Start: start}, true)
		}
	}
	expr, diags := hclsyntax.ParseExpression(src, filename, start)
	if tooDeep := checkTree(src, expr); tooDeep.HasErrors() {
		return nil, tooDeep
	}
	return expr, diags
}

// MaxTemplate is the maximum length in bytes of a template.
const MaxTemplate = 4 << 10

// ParseTemplate is hclsyntax.ParseTemplate for untrusted text. The expression is nil if the text is
// longer than [MaxTemplate], if it has so many brackets and operators that it could be nested too
// deeply, or if ctx is done.
func ParseTemplate(ctx context.Context, src []byte, filename string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	if len(src) > MaxTemplate {
		return nil, tooLarge(hcl.Range{Filename: filename, Start: start}, &SizeError{Line: start.Line, Column: start.Column, Unit: Bytes, Limit: MaxTemplate, Count: len(src)})
	}
	release, diags := admit(ctx, src, filename, start)
	defer release()
	if diags.HasErrors() {
		return nil, diags
	}
	if fitting(src, budget) < len(src) {
		return nil, tooDeep(hcl.Range{Filename: filename, Start: start}, true)
	}
	return hclsyntax.ParseTemplate(src, filename, start)
}
