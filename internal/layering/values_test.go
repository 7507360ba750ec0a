package layering_test

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// withoutText are the exported types with hidden parts that are not values, with the reason.
var withoutText = map[string]string{
	"addrs.Location":      "what was parsed of an address, which marshals",
	"lockfile.Side":       "an answer of a function, which is not kept",
	"lockfile.File":       "a file in memory, which programs write with WriteFile or Bytes",
	"policy.Policy":       "the rules of a file; those that programs set are exported fields, which marshal",
	"policy.Replacement":  "a block of a file, which only the file says",
	"policy.Replacements": "the blocks of a file, which only the file says",
}

// TestValuesHaveText checks that values marshal, which package log/slog uses as well: each exported
// type of the packages of values has MarshalText and UnmarshalText, unless it is an error, an interface
// or a function, or a struct that has only exported fields, which are such values themselves.
func TestValuesHaveText(t *testing.T) {
	t.Parallel()
	types, methods := map[string]*ast.TypeSpec{}, map[string][]string{}
	for _, s := range code(t) {
		if _, ok := valuePackages[s.dir]; !ok || s.dir == "installer/evidence" {
			continue
		}
		for _, decl := range s.file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					name := s.file.Name.Name + "." + receiver(decl.Recv.List[0].Type)
					methods[name] = append(methods[name], decl.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() && !spec.Assign.IsValid() {
						types[s.file.Name.Name+"."+spec.Name.Name] = spec
					}
				}
			}
		}
	}
	values := 0
	for _, name := range slices.Sorted(maps.Keys(types)) {
		has := methods[name]
		if _, listed := withoutText[name]; listed || !isValue(types[name], has) {
			continue
		}
		values++
		for _, wanted := range []string{"MarshalText", "UnmarshalText"} {
			if !slices.Contains(has, wanted) {
				t.Errorf("%s has no method %s", name, wanted)
			}
		}
	}
	if values < 15 {
		t.Errorf("found only %d types of values", values)
	}
	for name := range withoutText {
		if types[name] == nil {
			t.Errorf("there is no type %s", name)
		}
	}
}

// isValue reports whether a type has a text, and not only fields that have one.
func isValue(spec *ast.TypeSpec, methods []string) bool {
	if slices.Contains(methods, "Error") {
		return false
	}
	switch underlying := spec.Type.(type) {
	case *ast.InterfaceType, *ast.FuncType:
		return false
	case *ast.StructType:
		if slices.Contains(methods, "String") {
			return true
		}
		for _, field := range underlying.Fields.List {
			for _, name := range field.Names {
				if !name.IsExported() {
					return true
				}
			}
		}
		return false
	}
	return true
}

func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
