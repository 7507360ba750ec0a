package hcldepth

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ParseConfig is hclsyntax.ParseConfig for untrusted files. The file is nil if it was not parsed because it
// exceeds a limit, or because ctx was done. The Extra of the diagnostic is then a [*SizeError], a
// [*DepthError], or the error of ctx.
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

// admit waits until src may be parsed, and checks its size. The caller must call release in any case.
func admit(ctx context.Context, src []byte, filename string, start hcl.Pos) (release func(), diags hcl.Diagnostics) {
	release, diags = reserve(ctx, src, filename)
	if diags.HasErrors() {
		return func() {}, diags
	}
	return release, checkTokens(src, filename, start)
}

// ParseExpression is like [ParseConfig] for an expression.
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

const MaxTemplate = 4 << 10

// ParseTemplate is like [ParseConfig] for a template of at most [MaxTemplate] bytes. It refuses one that has
// so many brackets and operators that it could be nested too deeply.
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
