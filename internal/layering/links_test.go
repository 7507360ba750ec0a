package layering_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// declared are the names that a package declares, and the members of its types: "Name" and "Type.Member".
type declared map[string]bool

// declarations are what the packages of the module declare, by their directories, and from is of which other types a
// type has the members, because it embeds them or stands for them.
type declarations struct {
	names map[string]declared
	from  map[string]map[string][]reference
}

// reference is a type: dir is the directory of its package, or the path of one of another module.
type reference struct{ dir, name string }

// TestCommentsName checks that what comments name in brackets exists, as [Name], [Type.Member], [pkg.Name] and
// [pkg.Type.Member], and that so does what they name without brackets as Type.Member. Public packages have no such names
// of their own without brackets.
func TestCommentsName(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\[\*?((?:[a-z][a-z0-9]*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	placeholder := regexp.MustCompile(`^[A-Z]+$`) // of the usage of a program
	plain := regexp.MustCompile(`(?:^|[\s(])((?:[a-z][a-z0-9]*\.)?[A-Z][a-z]\w*\.[A-Z][a-z]\w*)`)
	all := declarationsOf(code(t))
	for _, s := range tree(t) {
		for _, group := range s.file.Comments {
			text := group.Text()
			for _, found := range links.FindAllStringSubmatch(text, -1) {
				if exists, known := all.has(s, found[1]); known && !exists && !placeholder.MatchString(found[1]) {
					t.Errorf("%s:%d: [%s] does not exist", s.name, s.line(group.Pos()), found[1])
				}
			}
			for _, found := range plain.FindAllStringSubmatch(text, -1) {
				name := found[1]
				if typed := name[:strings.LastIndexByte(name, '.')]; !all.isType(s, typed) {
					continue // it is another thing with a dot
				}
				exists, known := all.has(s, name)
				switch {
				case known && !exists:
					t.Errorf("%s:%d: %s does not exist", s.name, s.line(group.Pos()), name)
				case exists && public(s.dir) && !s.test && name[0] <= 'Z':
					t.Errorf("%s:%d: write [%s], which go doc turns into a link", s.name, s.line(group.Pos()), name)
				}
			}
		}
	}
}

// split returns the directory of the package in which a file finds a name, and the name in it. known is false for
// packages of other modules.
func (all declarations) split(s source, name string) (dir, rest string, known bool) {
	if name[0] >= 'A' && name[0] <= 'Z' {
		return s.dir, name, true
	}
	pkg, rest, _ := strings.Cut(name, ".")
	for _, p := range s.imports() {
		if path.Base(p) == pkg {
			dir, ours := strings.CutPrefix(p, module+"/")
			return dir, rest, ours
		}
	}
	for dir := range all.names {
		if path.Base(dir) == pkg {
			return dir, rest, true
		}
	}
	return "", rest, false
}

// has reports whether a name in a comment of a file exists. known is false if that cannot be told: it may be that of a
// package of another module, or declared in a test.
func (all declarations) has(s source, name string) (exists, known bool) {
	dir, rest, known := all.split(s, name)
	if !known {
		return false, false
	}
	typed, member, isMember := strings.Cut(rest, ".")
	switch {
	case s.test && dir == s.dir && !all.names[dir][typed]:
		return false, false
	case !isMember:
		return all.names[dir][typed], true
	}
	return all.hasMember(reference{dir, typed}, member)
}

func (all declarations) isType(s source, name string) bool {
	dir, rest, known := all.split(s, name)
	_, isType := all.from[dir][rest]
	return known && isType
}

// hasMember reports whether a type has a member, itself or by another type. known is false if one of these is that of
// another module.
func (all declarations) hasMember(typed reference, member string) (exists, known bool) {
	if all.names[typed.dir][typed.name+"."+member] {
		return true, true
	}
	known = all.names[typed.dir] != nil
	for _, other := range all.from[typed.dir][typed.name] {
		found, knownThere := all.hasMember(other, member)
		if found {
			return true, true
		}
		known = known && knownThere
	}
	return false, known
}

func declarationsOf(files []source) declarations {
	all := declarations{names: make(map[string]declared), from: make(map[string]map[string][]reference)}
	for _, s := range files {
		if all.names[s.dir] == nil {
			all.names[s.dir], all.from[s.dir] = make(declared), make(map[string][]reference)
		}
		for _, decl := range s.file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				all.addFunc(s, decl)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					all.addSpec(s, spec)
				}
			}
		}
	}
	return all
}

func (all declarations) addFunc(s source, f *ast.FuncDecl) {
	name := f.Name.Name
	if f.Recv != nil {
		name = all.typeIn(s, f.Recv.List[0].Type).name + "." + name
	}
	all.names[s.dir][name] = true
}

func (all declarations) addSpec(s source, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			all.names[s.dir][name.Name] = true
		}
	case *ast.TypeSpec:
		name := spec.Name.Name
		all.names[s.dir][name] = true
		all.from[s.dir][name] = slices.Clip(all.from[s.dir][name])
		switch is := spec.Type.(type) {
		case *ast.StructType:
			all.addMembers(s, name, is.Fields)
		case *ast.InterfaceType:
			all.addMembers(s, name, is.Methods)
		case *ast.Ident, *ast.SelectorExpr:
			all.from[s.dir][name] = append(all.from[s.dir][name], all.typeIn(s, is))
		}
	}
}

func (all declarations) addMembers(s source, typed string, members *ast.FieldList) {
	for _, member := range members.List {
		for _, name := range member.Names {
			all.names[s.dir][typed+"."+name.Name] = true
		}
		if member.Names == nil {
			embedded := all.typeIn(s, member.Type)
			all.names[s.dir][typed+"."+embedded.name] = true
			all.from[s.dir][typed] = append(all.from[s.dir][typed], embedded)
		}
	}
}

// typeIn returns the named type of an expression, or the zero value for any other type.
func (all declarations) typeIn(s source, expr ast.Expr) reference {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return all.typeIn(s, expr.X)
	case *ast.IndexExpr:
		return all.typeIn(s, expr.X)
	case *ast.IndexListExpr:
		return all.typeIn(s, expr.X)
	case *ast.Ident:
		return reference{s.dir, expr.Name}
	case *ast.SelectorExpr:
		if pkg, ok := expr.X.(*ast.Ident); ok {
			for _, p := range s.imports() {
				if path.Base(p) == pkg.Name {
					return reference{strings.TrimPrefix(p, module+"/"), expr.Sel.Name}
				}
			}
			return reference{pkg.Name, expr.Sel.Name}
		}
	}
	return reference{}
}
