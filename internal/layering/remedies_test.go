package layering_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commandLines are the files outside of the command with string literals that name the command
// with a subcommand. These literals are not messages but content of files.
var commandLines = map[string]bool{
	// This file has the comment at the beginning of a new lock.
	"lockfile/render.go": true,
	// The table of the documentation has a row for each command.
	"internal/rules/evidencerules/table.go": true,
}

// TestNoRemedies checks that messages of libraries state only facts. What to do next, with the
// options of the command line, is up to the command: see internal/cli/advice.
func TestNoRemedies(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?i)\bcotter (install|update|restore|verify)\b|(^|[^$\w])COTTER_[A-Z]|(^|[^-\w])--(` + strings.Join(commandFlags(t), "|") + `)\b`)
	for _, s := range code(t) {
		if isProgram(s.dir) || isCommand(s.dir) || strings.HasPrefix(s.dir, "bench/") || commandLines[s.name] {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			text, ok := literal(n)
			// A single word is an argument for a program or the name of a variable.
			if words := named.FindString(text); ok && words != "" && strings.Contains(text, " ") {
				t.Errorf("%s:%d: %q is for the command only: return an error that has the facts as its fields", s.name, s.line(n.Pos()), words)
			}
			return true
		})
	}
}

// commandFlags returns the names of all flags of cmd/cotter.
func commandFlags(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, s := range code(t) {
		if s.dir != "cmd/cotter" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 1 && makesFlag(call.Fun) {
				if name, ok := literal(call.Args[0]); ok {
					names = append(names, regexp.QuoteMeta(name))
				}
			}
			return true
		})
	}
	if len(names) < 20 {
		t.Fatalf("the flags of cmd/cotter were not found: %q", names)
	}
	return names
}

// makesFlag reports whether a function makes a flag: one of those in cmd/cotter/command.go, or of pflag.
func makesFlag(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"toggle", "text", "texts"}, fun.Name)
	case *ast.SelectorExpr:
		set, ok := fun.X.(*ast.Ident)
		return ok && set.Name == "set"
	}
	return false
}

func literal(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
