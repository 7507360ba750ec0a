package layering_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

func TestSizes(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		if lines := s.line(s.file.FileEnd); lines > maxFileLines+1 { // the end is after the last newline
			t.Errorf("%s has %d lines; at most %d are allowed: one idea a file", s.name, lines-1, maxFileLines)
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := s.line(f.End()) - s.line(f.Pos()) + 1; lines > maxFunctionLines {
				t.Errorf("%s:%d: function %s has %d lines; at most %d are allowed", s.name, s.line(f.Pos()), f.Name.Name, lines, maxFunctionLines)
			}
		}
	}
}

func TestPackageNames(t *testing.T) {
	t.Parallel()
	banned := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "types", "base"}
	for _, s := range tree(t) {
		if name := strings.TrimSuffix(s.file.Name.Name, "_test"); slices.Contains(banned, name) {
			t.Errorf("%s: package %q is named for nothing that it does", s.name, name)
		}
	}
}
