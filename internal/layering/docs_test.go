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

// testsPage says what the tests prove.
const testsPage = "cmd/cotter/testdata/README.md"

// TestContributing checks that the files, directories and tests in the tables of CONTRIBUTING.md and testsPage exist.
// Names in capitals stand for several files.
func TestContributing(t *testing.T) {
	t.Parallel()
	names := func(page, title string) []string {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		_, table, found := strings.Cut(string(text), "## "+title+"\n")
		table, _, end := strings.Cut(table, "\n## ")
		if !found || !end {
			t.Fatalf("%s has no section %q with another one after it", page, title)
		}
		var list []string
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1) {
			list = append(list, name[1])
		}
		return list
	}
	paths := slices.Concat(names("CONTRIBUTING.md", "Where things are"), slices.DeleteFunc(names("CONTRIBUTING.md", "Where to add"), func(name string) bool {
		return !strings.Contains(name, "/") || regexp.MustCompile("[A-Z]{3}").MatchString(name)
	}))
	tests, dir := testFunctions(t), ""
	for _, name := range names(testsPage, "What they prove") {
		switch {
		case strings.HasPrefix(name, "Test"):
			if !tests[dir+" "+name] {
				t.Errorf("%s names %s in %s, which does not exist", testsPage, name, dir)
			}
		case !strings.ContainsAny(name, " -."): // no command, flag or pattern
			paths, dir = append(paths, name), name
		}
	}
	for _, name := range paths {
		if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
			t.Errorf("a page names %s: %v", name, err)
		}
	}
}

// testFunctions has an entry "DIR NAME" for each test.
func testFunctions(t *testing.T) map[string]bool {
	tests := make(map[string]bool)
	for _, s := range tree(t) {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && s.test && f.Recv == nil {
				tests[s.dir+" "+f.Name.Name] = true
			}
		}
	}
	return tests
}

// fencedBlock is a block of code in a page.
var fencedBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")

// TestPagesAreWhole finds what is left of a page after lines were lost: two blank lines, and the rest of an item
// of a list without its beginning.
func TestPagesAreWhole(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	hole := regexp.MustCompile("\n\n(\n|  [a-z]).*")
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../"+testsPage) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range hole.FindAllString(fencedBlock.ReplaceAllString(string(text), "block"), -1) {
			t.Errorf("%s: %q", page, found)
		}
	}
}

// TestPageLinks checks the links between pages as GitHub shows them, also those that the site has not: a link to a
// file of the repository, relative or with its address on GitHub, must point to an existing file, and its fragment to
// a heading there.
func TestPageLinks(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/spec/*.md", "bench/*.md", "conformance/*/*.md", testsPage, "conformance/testdata/*.md"} {
		found, err := filepath.Glob("../../" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, found, err)
		}
		pages = append(pages, found...)
	}
	link, onGitHub := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile(`^https://github\.com/cotterpin/cotter/(?:blob|tree)/main/`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(fencedBlock.ReplaceAllString(string(text), ""), -1) {
			target, fragment, _ := strings.Cut(found[1], "#")
			switch path := onGitHub.ReplaceAllString(target, ""); {
			case path != target:
				target = filepath.Join("../..", path)
			case strings.Contains(target, "://"):
				continue
			case target == "":
				target = page
			default:
				target = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: %v", page, found[1], err)
			} else if fragment != "" && strings.HasSuffix(target, ".md") && !headings(t, target)[fragment] {
				t.Errorf("%s: %s: there is no such heading", page, found[1])
			}
		}
	}
}

// headings returns the fragments by which GitHub links to the headings of a page.
func headings(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fragments := map[string]bool{}
	other := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(fencedBlock.ReplaceAllString(string(text), ""), -1) {
		fragments[strings.ReplaceAll(other.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	return fragments
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
