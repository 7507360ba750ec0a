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

// forbidden are calls that only the command may make. A library gets its settings through
// fields, reports results by return values, and does not use the terminal.
var forbidden = map[string][]string{
	"fmt": {"Print", "Printf", "Println"},
	"log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"},
	"os":  {"Exit", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Chdir"},
}

// exempt are forbidden calls that individual packages may make.
var exempt = map[string][]string{
	// git runs with the environment of the process, which may have the user's credentials.
	"internal/git/gitexec": {"os.Environ"},
	// The environment locates git's configuration, as for git itself.
	"internal/git/gitdir": {"os.Environ"},
	// hg runs with the environment of the process, as git does.
	"getmodules/hg": {"os.Environ"},
	// One function of this package reads the environment for programs.
	"cliconfig": {"os.Environ"},
	// The git that modtest runs gets the world's certificate in addition to the environment.
	"modtest": {"os.Environ"},
	// testenv prepares the process for tests.
	"internal/testenv": {"os.Getenv", "os.Setenv"},
}

func TestForbiddenCalls(t *testing.T) {
	t.Parallel()
	for _, s := range code(t) {
		if isProgram(s.dir) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				checkSelector(t, s, selector)
			}
			return true
		})
	}
}

func checkSelector(t *testing.T, s source, selector *ast.SelectorExpr) {
	pkg, ok := selector.X.(*ast.Ident)
	if !ok || !slices.Contains(s.imports(), pkg.Name) {
		return // a variable with the name of the package
	}
	call := pkg.Name + "." + selector.Sel.Name
	if slices.Contains(forbidden[pkg.Name], selector.Sel.Name) && !slices.Contains(exempt[s.dir], call) {
		t.Errorf("%s:%d: %s is for the command only", s.name, s.line(selector.Pos()), call)
	}
}

// parsers are the functions of HCL that read a text. They have no limits of their own, so only
// internal/hcldepth calls them. "*" stands for all functions of a package.
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
	// These read parts of files that internal/hcldepth has parsed.
	"internal/configs/exprtext.go": {"LexExpression"},
	"lockfile/decode.go":           {"LexExpression"},
	// This package does not call the parser without checking the text.
	"internal/hcldepth/hcl.go":    {"ParseConfig", "ParseExpression", "ParseTemplate"},
	"internal/hcldepth/pieces.go": {"ParseConfig", "LexConfig"},
	"internal/hcldepth/tokens.go": {"LexConfig"},
	"internal/hcldepth/json.go":   {"Parse"},
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
					t.Errorf("%s:%d: %s.%s has no limits; use internal/hcldepth", s.name, s.line(n.Pos()), name, selector.Sel.Name)
				}
				return true
			})
		}
	}
}

func TestNoInit(t *testing.T) {
	t.Parallel()
	for _, s := range code(t) {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s:%d: init functions hide what a program does", s.name, s.line(f.Pos()))
			}
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
