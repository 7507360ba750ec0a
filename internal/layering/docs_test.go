package layering_test

import (
	"go/ast"
	"go/doc"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocs checks that every package has a package comment in doc.go.
func TestDocs(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range code(t) {
		documented[s.dir] = documented[s.dir] || s.file.Doc != nil && (s.name == docFile(s.dir) || !public(s.dir))
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment in %s", dir, docFile(dir))
		}
	}
}

func docFile(dir string) string {
	return dir + "/doc.go"
}

// TestExamples checks that every public package has an example whose output go test compares.
func TestExamples(t *testing.T) {
	t.Parallel()
	files := map[string][]*ast.File{}
	for _, s := range tree(t) {
		if public(s.dir) {
			if s.test {
				files[s.dir] = append(files[s.dir], s.file)
			} else if files[s.dir] == nil {
				files[s.dir] = []*ast.File{} // report packages without any examples, too
			}
		}
	}
	for dir, tests := range files {
		if !slices.ContainsFunc(doc.Examples(tests...), func(e *doc.Example) bool { return e.Output != "" }) {
			t.Errorf("package %s has no example with an output", dir)
		}
	}
}

// TestContributing checks that the files and directories in the tables of CONTRIBUTING.md exist.
// Names in capitals stand for several files.
func TestContributing(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []struct {
		title string
		// isPath reports whether a name in the section is one of a file or a directory.
		isPath func(name string) bool
	}{
		{"Where things are", func(string) bool { return true }},
		{"Where to add", func(name string) bool {
			return strings.Contains(name, "/") && !regexp.MustCompile("[A-Z]{3}").MatchString(name)
		}},
	} {
		_, table, found := strings.Cut(string(text), "## "+section.title+"\n")
		table, _, end := strings.Cut(table, "\n## ")
		if !found || !end {
			t.Fatalf("CONTRIBUTING.md has no section %q with another one after it", section.title)
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1) {
			if _, err := os.Stat(filepath.Join("../..", name[1])); section.isPath(name[1]) && err != nil {
				t.Errorf("CONTRIBUTING.md names %s: %v", name[1], err)
			}
		}
	}
}

// TestREADME checks that the README is short enough to be read: at most 150 lines.
func TestREADME(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 150 {
		t.Errorf("README.md has %d lines", n)
	}
}
