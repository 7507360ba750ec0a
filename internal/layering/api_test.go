package layering_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
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
	exported := map[string][]string{}
	for _, s := range code(t) {
		if !public(s.dir) {
			continue
		}
		name := listName(s.dir)
		for _, decl := range s.file.Decls {
			exported[name] = append(exported[name], exports(t, s.set, decl)...)
		}
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

// listName returns the name of the list of the package in a directory.
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

// exports returns a line for everything that a declaration exports, without comments and bodies.
func exports(t *testing.T, set *token.FileSet, decl ast.Decl) []string {
	t.Helper()
	text := func(node any) string { return oneLine(t, set, node) }
	var lines []string
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if receiver, ok := receiverOf(d); d.Name.IsExported() && (ok && ast.IsExported(receiver) || d.Recv == nil) {
			lines = append(lines, text(&ast.FuncDecl{Recv: withoutNames(d.Recv), Name: d.Name, Type: d.Type}))
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					lines = append(lines, exportsOfType(s, text)...)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if !name.IsExported() {
						continue
					}
					line := d.Tok.String() + " " + name.Name
					if s.Type != nil {
						line += " " + text(s.Type)
					}
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

// exportsOfType returns a line for a type, and one for each of its exported fields and methods.
func exportsOfType(s *ast.TypeSpec, text func(any) string) []string {
	title := "type " + s.Name.Name
	var kind string
	var members *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		kind, members = "struct", t.Fields
	case *ast.InterfaceType:
		kind, members = "interface", t.Methods
	default:
		return []string{text(&ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&ast.TypeSpec{Name: s.Name, TypeParams: s.TypeParams, Assign: s.Assign, Type: s.Type}}})}
	}
	lines := []string{title + " " + kind}
	for _, m := range members.List {
		for _, name := range m.Names {
			switch f, isMethod := m.Type.(*ast.FuncType); {
			case !name.IsExported() && kind == "interface":
				lines = append(lines, title+" "+kind+", unexported methods")
			case !name.IsExported():
			case isMethod && kind == "interface":
				lines = append(lines, title+" "+kind+", "+name.Name+strings.TrimPrefix(text(f), "func"))
			default:
				lines = append(lines, title+" "+kind+", "+name.Name+" "+text(m.Type))
			}
		}
		if m.Names == nil {
			lines = append(lines, title+" "+kind+", embedded "+text(m.Type))
		}
	}
	return slices.Compact(lines)
}

// withoutNames returns a receiver without its name, which is nothing that a program depends on.
func withoutNames(receiver *ast.FieldList) *ast.FieldList {
	if receiver == nil {
		return nil
	}
	return &ast.FieldList{List: []*ast.Field{{Type: receiver.List[0].Type}}}
}

// receiverOf returns the name of the type that a method belongs to.
func receiverOf(f *ast.FuncDecl) (name string, ok bool) {
	if f.Recv == nil {
		return "", false
	}
	receiver := f.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.Ident:
			return r.Name, true
		default:
			return "", false
		}
	}
}

// oneLine prints a node in one line.
func oneLine(t *testing.T, set *token.FileSet, node any) string {
	t.Helper()
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, set, node); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
