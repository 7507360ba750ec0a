package layering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// files are the files of one package, with the files whose definitions each of them uses.
type files struct {
	names []string
	uses  map[string]map[string]string // file to file to one of the names
	pkg   *types.Package
}

// readFiles parses and checks the package in a directory of the module.
func readFiles(t *testing.T, dir string) files {
	t.Helper()
	packages := packageList(t)
	found := files{names: packages[path.Join(module, dir)].files, uses: make(map[string]map[string]string)}
	if len(found.names) == 0 {
		t.Fatalf("there is no package in %s", dir)
	}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range found.names {
		file, err := parser.ParseFile(fset, filepath.Join("../..", dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: compiled(packages, fset)}
	info := types.Info{Uses: make(map[*ast.Ident]types.Object)}
	var err error
	if found.pkg, err = config.Check(dir, fset, parsed, &info); err != nil {
		t.Fatal(err)
	}
	for ident, used := range info.Uses {
		isMember := used.Parent() == nil || used.Parent() == found.pkg.Scope() // a field or method, or a definition of the package
		if used.Pkg() != found.pkg || !isMember {
			continue
		}
		from, to := filepath.Base(fset.Position(ident.Pos()).Filename), filepath.Base(fset.Position(used.Pos()).Filename)
		if from == to {
			continue
		}
		if found.uses[from] == nil {
			found.uses[from] = make(map[string]string)
		}
		if first := found.uses[from][to]; first == "" || used.Name() < first {
			found.uses[from][to] = used.Name()
		}
	}
	return found
}

// circle returns files whose definitions use each other in a circle, or nil. The last one is the
// first one again.
func (f files) circle() []string {
	var path []string
	finished := make(map[string]bool)
	var visit func(name string) []string
	visit = func(name string) []string {
		if i := slices.Index(path, name); i >= 0 {
			return append(slices.Clone(path[i:]), name)
		}
		if finished[name] {
			return nil
		}
		path = append(path, name)
		for _, next := range f.names {
			if _, ok := f.uses[name][next]; !ok {
				continue
			}
			if circle := visit(next); circle != nil {
				return circle
			}
		}
		path, finished[name] = path[:len(path)-1], true
		return nil
	}
	for _, name := range f.names {
		if circle := visit(name); circle != nil {
			return circle
		}
	}
	return nil
}

// towers are the packages whose files have an order: in package installer, types of the API are at the
// bottom, then the stages of an installation, then the methods of Installer.
var towers = []string{"installer", "internal/git", "internal/git/inprocess", "internal/project"}

// TestTower reports files of these packages whose definitions use each other in a circle.
func TestTower(t *testing.T) {
	t.Parallel()
	for _, dir := range towers {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			found := readFiles(t, dir)
			circle := found.circle()
			for i := range len(circle) - 1 {
				t.Errorf("%s uses %s of %s", circle[i], found.uses[circle[i]][circle[i+1]], circle[i+1])
			}
		})
	}
}

// TestInstallerMethods reports methods of Installer that are not part of the API. Work belongs to
// the stages, which have only the few things that they need.
func TestInstallerMethods(t *testing.T) {
	t.Parallel()
	installer := readPackages(t, []string{"installer"})[0].Scope().Lookup("Installer").Type()
	for method := range types.NewMethodSet(types.NewPointer(installer)).Methods() {
		if !method.Obj().Exported() {
			t.Errorf("%s is not exported", method.Obj().Name())
		}
	}
}
