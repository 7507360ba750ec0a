package layering_test

import (
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the lists in testdata/api")

// apiDir has a list of what each public package exports, with one declaration a line.
const apiDir = "../../testdata/api"

// TestAPI compares what the public packages export with the lists in testdata/api. The API is
// frozen: a line that is removed or changed breaks programs that import the package, and an added
// line is one more promise. Run the test with -update after a deliberate change.
func TestAPI(t *testing.T) {
	t.Parallel()
	var dirs []string
	for _, s := range code(t) {
		if public(s.dir) && !slices.Contains(dirs, s.dir) {
			dirs = append(dirs, s.dir)
		}
	}
	exported := map[string][]string{}
	for i, pkg := range readPackages(t, dirs) {
		exported[listName(dirs[i])] = exportsOf(pkg)
	}
	if *update {
		writeLists(t, exported)
		return
	}
	files, err := os.ReadDir(apiDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := exported[f.Name()]; !ok {
			t.Errorf("%s: there is no such public package", f.Name())
		}
	}
	for name, now := range exported {
		slices.Sort(now)
		want, err := os.ReadFile(filepath.Join(apiDir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		frozen := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
		for _, line := range frozen {
			if !slices.Contains(now, line) {
				t.Errorf("%s: removed: %s", name, line)
			}
		}
		for _, line := range now {
			if !slices.Contains(frozen, line) {
				t.Errorf("%s: added: %s", name, line)
			}
		}
	}
}

func listName(dir string) string {
	return strings.ReplaceAll(dir, "/", "-") + ".txt"
}

func writeLists(t *testing.T, exported map[string][]string) {
	t.Helper()
	if err := os.RemoveAll(apiDir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(apiDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, lines := range exported {
		slices.Sort(lines)
		if err := os.WriteFile(filepath.Join(apiDir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readPackages type-checks packages, given their directories, from the export data of the compiler. It
// has what other packages can see of them.
func readPackages(t *testing.T, dirs []string) []*types.Package {
	t.Helper()
	imports := compiled(packageList(t), token.NewFileSet())
	var packages []*types.Package
	for _, dir := range dirs {
		pkg, err := imports.Import(path.Join(module, dir))
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, pkg)
	}
	return packages
}

// exportsOf returns a line for everything that a package exports. Types are named with the path of
// their package in this module, or its name if it is in another one. An alias has the members of the
// type that it stands for.
func exportsOf(pkg *types.Package) []string {
	name := func(other *types.Package) string {
		if other == pkg {
			return ""
		}
		if dir, ok := strings.CutPrefix(other.Path(), module+"/"); ok {
			return dir
		}
		return other.Name()
	}
	text := func(t types.Type) string { return strings.ReplaceAll(types.TypeString(t, name), "interface{}", "any") }
	var lines []string
	for _, known := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(known)
		if !obj.Exported() {
			continue
		}
		switch obj := obj.(type) {
		case *types.Const:
			lines = append(lines, fmt.Sprintf("const %s %s = %s", known, text(obj.Type()), obj.Val().ExactString()))
		case *types.Var:
			lines = append(lines, "var "+known+" "+text(obj.Type()))
		case *types.Func:
			lines = append(lines, "func "+known+strings.TrimPrefix(text(obj.Type()), "func"))
		case *types.TypeName:
			lines = append(lines, exportsOfType(obj, text)...)
		}
	}
	return lines
}

func exportsOfType(obj *types.TypeName, text func(types.Type) string) []string {
	title := "type " + obj.Name()
	head := title + " "
	if obj.IsAlias() {
		head += "= " + text(types.Unalias(obj.Type())) + " "
	}
	var lines []string
	switch underlying := obj.Type().Underlying().(type) {
	case *types.Struct:
		lines = append(lines, head+"struct")
		for field := range underlying.Fields() {
			switch {
			case field.Embedded():
				lines = append(lines, title+" struct, embedded "+text(field.Type()))
			case field.Exported():
				lines = append(lines, title+" struct, "+field.Name()+" "+text(field.Type()))
			}
		}
	case *types.Interface:
		lines = append(lines, head+"interface")
		for method := range underlying.Methods() {
			if method.Exported() {
				lines = append(lines, title+" interface, "+method.Name()+strings.TrimPrefix(text(method.Type()), "func"))
			} else {
				lines = append(lines, title+" interface, unexported methods")
			}
		}
		return slices.Compact(lines)
	default:
		lines = append(lines, head+text(underlying))
	}
	for selection := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
		if method := selection.Obj().(*types.Func); method.Exported() {
			receiver := ""
			if _, ok := method.Signature().Recv().Type().(*types.Pointer); ok {
				receiver = "*"
			}
			lines = append(lines, "method ("+receiver+obj.Name()+") "+method.Name()+strings.TrimPrefix(text(method.Type()), "func"))
		}
	}
	return lines
}
