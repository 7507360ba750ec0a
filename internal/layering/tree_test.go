package layering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/cotterpin/cotter"

// source is one Go file of the module.
type source struct {
	name string // with forward slashes, relative to the module's root
	dir  string // "." for the root
	test bool
	file *ast.File
	set  *token.FileSet
}

func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

func (s source) line(pos token.Pos) int { return s.set.Position(pos).Line }

// public reports whether other modules can import the package in a directory.
func public(dir string) bool {
	return !isProgram(dir) && !strings.Contains("/"+dir+"/", "/internal/")
}

var readTree = sync.OnceValues(func() ([]source, error) {
	root := filepath.Join("..", "..")
	set := token.NewFileSet()
	var sources []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != root && skipsDir(name) {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(name) != ".go" {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		sources = append(sources, source{rel, path.Dir(rel), strings.HasSuffix(rel, "_test.go"), file, set})
		return err
	})
	return sources, err
})

// skipsDir reports whether the go command ignores a directory, or treats it as part of another
// module.
func skipsDir(name string) bool {
	base := filepath.Base(name)
	if base == "testdata" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	return err == nil
}

// tree returns all Go files of the module.
func tree(t *testing.T) []source {
	t.Helper()
	sources, err := readTree()
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) == 0 {
		t.Fatal("no Go files found")
	}
	return sources
}

func code(t *testing.T) []source {
	t.Helper()
	var sources []source
	for _, s := range tree(t) {
		if !s.test {
			sources = append(sources, s)
		}
	}
	return sources
}

// isProgram reports whether a directory belongs to a command, an example or the benchmarks.
func isProgram(dir string) bool {
	return strings.HasPrefix(dir, "cmd/") || strings.HasPrefix(dir, "examples/") || dir == "bench"
}
