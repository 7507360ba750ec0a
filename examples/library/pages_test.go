package library_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the samples into the pages")

// sampleBlock is a block of Go code in a page, with the comment above it that names the
// sample, if there is one.
var sampleBlock = regexp.MustCompile("(?s)(?:<!-- sample: ([a-z ]+) -->\n)?```go\n(.*?)```\n")

// TestPages compares the Go code in the pages with the samples of this package and with the other
// programs in examples/, so every block of Go code compiles. Run it with -update to write the samples into the pages.
func TestPages(t *testing.T) {
	t.Parallel()
	samples := readSamples(t)
	used := make(map[string]bool)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	specs, err := filepath.Glob("../../docs/spec/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range slices.Concat(pages, specs, []string{"../../README.md"}) {
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

// programs are the files that are shown as a whole, from the package clause on, by the names of
// their samples. Each has to fit a screen.
var programs = map[string]string{
	"fetch":          "../fetch/main.go",
	"scanner":        "../scanner/main.go",
	"wrapper":        "../wrapper/main.go",
	"updater":        "../updater/main.go",
	"unit test":      "../unittest/unittest_test.go",
	"policy service": "../policyservice/main.go",
}

const screen = 55 // lines

var packageClause = regexp.MustCompile(`(?ms)^package .*`)

// readSamples returns the samples by their names, without the indentation that the
// function around them gives, and the programs.
func readSamples(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("samples_test.go")
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`(?ms)^(\t*)// sample: ([a-z ]+)\n(.*?)^\t*// end$`)
	samples := make(map[string]string)
	for name, file := range programs {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		samples[name] = packageClause.FindString(string(text))
		if n := strings.Count(samples[name], "\n"); n > screen {
			t.Errorf("%s has %d lines, which is more than a screen", file, n)
		}
	}
	for _, found := range marked.FindAllStringSubmatch(string(text), -1) {
		indent, name, code := found[1], found[2], strings.TrimSpace(found[3])
		if _, ok := samples[name]; ok {
			t.Errorf("there are two samples %q", name)
		}
		samples[name] = strings.ReplaceAll(code, "\n"+indent, "\n") + "\n"
	}
	return samples
}
