package layering_test

import (
	"go/ast"
	"slices"
	"testing"
)

// forbidden are the calls that only the command may make. A library gets its
// settings through fields, reports by return values, and leaves the terminal
// to the program.
var forbidden = map[string][]string{
	"fmt": {"Print", "Printf", "Println"},
	"log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"},
	"os":  {"Exit", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Chdir"},
}

// exempt are the calls that a package has reason to make.
var exempt = map[string][]string{
	// git gets the environment of the process, with the user's credentials.
	"internal/git/gitexec": {"os.Environ"},
	// So does hg.
	"getmodules/hg": {"os.Environ"},
	// It has the one function that reads the environment, for programs.
	"cliconfig": {"os.Environ"},
	// Its git gets the world's certificate in addition.
	"modtest": {"os.Environ"},
	// It prepares the process of tests.
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
		return // a variable that is named like the package
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
