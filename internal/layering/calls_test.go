package layering_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parsers are the functions of HCL that read a text. They have no limits of their own, so only
// internal/configuration/hcldepth calls them. "*" stands for all functions of a package.
var parsers = map[string][]string{
	"github.com/hashicorp/hcl/v2/hclsyntax": {
		"ParseConfig", "ParseExpression", "ParseTemplate", "ParseTraversalAbs", "ParseTraversalPartial",
		"LexConfig", "LexExpression", "LexTemplate",
	},
	"github.com/hashicorp/hcl/v2/json":      {"*"},
	"github.com/hashicorp/hcl/v2/hclparse":  {"*"},
	"github.com/hashicorp/hcl/v2/hclsimple": {"*"},
	"github.com/hashicorp/hcl/v2/hclwrite":  {"*"},
	"github.com/hashicorp/hcl/v2/hcled":     {"*"},
}

// readers are the files that may read a text with HCL's functions.
var readers = map[string][]string{
	// These read parts of files that internal/configuration/hcldepth has parsed.
	"internal/configuration/configread/exprtext.go": {"LexExpression"},
	"lockfile/decode.go":                            {"LexExpression"},
	// This package does not call the parser without checking the text.
	"internal/configuration/hcldepth/hcl.go":    {"ParseConfig", "ParseExpression", "ParseTemplate"},
	"internal/configuration/hcldepth/pieces.go": {"ParseConfig", "LexConfig"},
	"internal/configuration/hcldepth/tokens.go": {"LexConfig"},
	"internal/configuration/hcldepth/json.go":   {"Parse"},
}

// TestParsers reports calls of HCL's parsers that bypass the limits.
func TestParsers(t *testing.T) {
	t.Parallel()
	for _, s := range code(t) {
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			functions := parsers[imported]
			if err != nil || functions == nil {
				continue
			}
			name := path.Base(imported)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			ast.Inspect(s.file, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, _ := selector.X.(*ast.Ident)
				reads := slices.Contains(functions, selector.Sel.Name) || functions[0] == "*"
				if pkg != nil && pkg.Name == name && reads && !slices.Contains(readers[s.name], selector.Sel.Name) {
					t.Errorf("%s:%d: %s.%s has no limits; use internal/configuration/hcldepth", s.name, s.line(n.Pos()), name, selector.Sel.Name)
				}
				return true
			})
		}
	}
}

// TestNoTemplates reports templates. They call methods by names that the linker does not know: it then
// keeps all methods of all types, which make up a quarter of the command's size. cobra links its own
// templates only if a program sets one.
func TestNoTemplates(t *testing.T) {
	t.Parallel()
	sets := regexp.MustCompile(`^(Set(Usage|Help|Version)Template|AddTemplateFuncs?)$`)
	for _, s := range code(t) {
		for _, spec := range s.file.Imports {
			if strings.HasSuffix(spec.Path.Value, `/template"`) {
				t.Errorf("%s imports %s", s.name, spec.Path.Value)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok && sets.MatchString(selector.Sel.Name) {
				t.Errorf("%s:%d sets a template of cobra", s.name, s.line(n.Pos()))
			}
			return true
		})
	}
}
