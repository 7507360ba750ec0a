package library_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the samples into the pages")

// sampleBlock is a block of Go code in a page, with the comment above it that names the
// sample, if there is one.
var sampleBlock = regexp.MustCompile("(?s)(?:<!-- sample: ([a-z ]+) -->\n)?```go\n(.*?)```\n")

// TestPages compares the Go code in the pages with the samples of this package, so every
// block of Go code compiles. Run it with -update to write the samples into the pages.
func TestPages(t *testing.T) {
	t.Parallel()
	samples := readSamples(t)
	used := make(map[string]bool)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		want := sampleBlock.ReplaceAllStringFunc(string(text), func(block string) string {
			found := sampleBlock.FindStringSubmatch(block)
			sample, ok := samples[found[1]]
			if !ok {
				t.Errorf("%s: a block of Go code has no comment with the name of a sample (%q):\n%s", page, found[1], found[2])
				return block
			}
			used[found[1]] = true
			return "<!-- sample: " + found[1] + " -->\n```go\n" + sample + "```\n"
		})
		if want == string(text) {
			continue
		}
		if !*update {
			t.Errorf("%s differs from the samples; run this test with -update (-page +samples):\n%s", page, cmp.Diff(strings.Split(string(text), "\n"), strings.Split(want, "\n")))
			continue
		}
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range samples {
		if !used[name] {
			t.Errorf("sample %q is in no page", name)
		}
	}
}

// readSamples returns the samples by their names, without the indentation that the
// function around them gives.
func readSamples(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("samples_test.go")
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`(?ms)^(\t*)// sample: ([a-z ]+)\n(.*?)^\t*// end$`)
	samples := make(map[string]string)
	for _, found := range marked.FindAllStringSubmatch(string(text), -1) {
		indent, name, code := found[1], found[2], strings.TrimSpace(found[3])
		if _, ok := samples[name]; ok {
			t.Errorf("there are two samples %q", name)
		}
		samples[name] = strings.ReplaceAll(code, "\n"+indent, "\n") + "\n"
	}
	return samples
}
