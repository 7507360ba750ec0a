package configread_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

var update = flag.Bool("update", false, "write what the fixtures in testdata want")

// wantFile is the section of a fixture with the expected result of reading the other sections.
const wantFile = "want"

// TestFixtures reads the directory in each fixture and the local modules that it calls. The lines
// of the fixture's comment are options: "dialect: terraform", "var: k=v", "var-file: FILE", "env:
// k=v", "workspace: NAME", "tests: DIR".
func TestFixtures(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("Glob = %v, %v, want fixtures", fixtures, err)
	}
	for _, fixture := range fixtures {
		t.Run(strings.TrimSuffix(filepath.Base(fixture), ".txtar"), func(t *testing.T) {
			t.Parallel()
			checkFixture(t, fixture)
		})
	}
}

func checkFixture(t *testing.T, fixture string) {
	archive, err := txtar.ParseFile(fixture)
	testenv.Must(t, err)
	dir := t.TempDir()
	want := -1
	for i, file := range archive.Files {
		if file.Name == wantFile {
			want = i
			continue
		}
		testenv.WriteFile(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	if want < 0 {
		t.Fatalf("%s has no section %q", fixture, wantFile)
	}
	reader, root := options(string(archive.Comment))
	root.Path, root.Display = dir, "."
	got := describeTree(t, reader, root)
	if *update {
		archive.Files[want].Data = []byte(got)
		testenv.WriteFile(t, fixture, string(txtar.Format(archive)))
		return
	}
	if diff := cmp.Diff(string(archive.Files[want].Data), got); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
}

func options(comment string) (configread.Reader, configread.Dir) {
	var reader configread.Reader
	var dir configread.Dir
	inputs := config.Inputs{Environment: map[string]string{}}
	for line := range strings.Lines(comment) {
		option, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		name, text, _ := strings.Cut(value, "=")
		switch option {
		case "dialect":
			reader.Terraform = value == "terraform"
		case "var":
			inputs.Variables = append(inputs.Variables, config.Variable{Name: name, Value: text})
		case "var-file":
			inputs.Variables = append(inputs.Variables, config.Variable{File: value})
		case "env":
			inputs.Environment[name] = text
		case "workspace":
			inputs.Workspace = value
		case "tests":
			dir.Tests = value
		}
	}
	dir.Tree = configread.NewTree(inputs)
	return reader, dir
}

func describeTree(t *testing.T, reader configread.Reader, dir configread.Dir) string {
	m, diags := reader.Read(t.Context(), dir)
	text := describe(m, diags)
	for _, call := range m.Calls {
		child := configread.Dir{Module: call.PathIn(dir.Module), Path: filepath.Join(dir.Path, call.Source), Files: dir.Files, Subdir: path.Join(dir.Subdir, call.Source), Display: path.Join(dir.Display, call.Source), Tree: dir.Tree}
		if info, err := os.Stat(child.Path); err == nil && info.IsDir() && child.Path != dir.Path {
			if below := describeTree(t, reader, child); below != "" {
				text += fmt.Sprintf("in %s:\n%s", child.Display, below)
			}
		}
	}
	return text
}

func describe(m config.Module, diags hcl.Diagnostics) string {
	var out strings.Builder
	for _, call := range m.Calls {
		name := strings.Join(append(call.Prefix, call.Name), ".")
		fmt.Fprintf(&out, "%s at %s: source %q at %s", name, short(&call.Range), call.Source, short(&call.SourceRange))
		if call.Version != nil {
			fmt.Fprintf(&out, ", version %q at %s", *call.Version, short(&call.VersionRange))
		}
		out.WriteByte('\n')
	}
	for _, diag := range diags {
		fmt.Fprintf(&out, "%s: %s; %s\n", short(diag.Subject), diag.Summary, diag.Detail)
	}
	return out.String()
}

func short(r *hcl.Range) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%s:%d,%d", r.Filename, r.Start.Line, r.Start.Column)
}

func callNames(m config.Module) string {
	var names []string
	for _, call := range m.Calls {
		names = append(names, call.Name)
	}
	return strings.Join(names, " ")
}
