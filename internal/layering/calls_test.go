package layering_test

import (
	"go/ast"
	"slices"
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
	"internal/gitowner": {"os.Environ"},
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
