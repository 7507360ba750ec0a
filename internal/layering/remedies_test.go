package layering_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// commandLines are the string literals outside the command that name it with a
// subcommand: texts of files, and no messages.
var commandLines = map[string]bool{
	// The comment at the beginning of a new lock.
	"lockfile/render.go": true,
}

// TestNoRemedies checks that messages of libraries state facts. What to do next, in
// the words of its command line, only the command says: cmd/cotter/remedies.go.
func TestNoRemedies(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?i)\bcotter (install|update|restore|verify)\b|(^|[^$\w])COTTER_[A-Z]|(^|[^-\w])--(` + strings.Join(commandFlags(t), "|") + `)\b`)
	for _, s := range code(t) {
		if isProgram(s.dir) || strings.HasPrefix(s.dir, "bench/") || commandLines[s.name] {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			text, ok := literal(n)
			// A lone word is an argument of a program, or a variable's name.
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
			if flag, ok := n.(*ast.CompositeLit); ok && isFlag(flag.Type) {
				names = append(names, flagNames(flag)...)
			}
			return true
		})
	}
	if len(names) < 20 {
		t.Fatalf("the flags of cmd/cotter were not found: %q", names)
	}
	return names
}

// isFlag reports whether a type is one of the cli package's flags.
func isFlag(expr ast.Expr) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == "cli" && strings.HasSuffix(selector.Sel.Name, "Flag")
}

func flagNames(flag *ast.CompositeLit) []string {
	for _, element := range flag.Elts {
		field, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := field.Key.(*ast.Ident); ok && key.Name == "Name" {
			name, _ := literal(field.Value)
			return []string{regexp.QuoteMeta(name)}
		}
	}
	return nil
}

// literal returns the text of a string literal.
func literal(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
