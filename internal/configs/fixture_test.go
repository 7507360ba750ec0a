package configs_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/internal/configs"
)

var update = flag.Bool("update", false, "write what the fixtures in testdata want")

// wantFile is the section of a fixture that says what reading the other
// sections must give.
const wantFile = "want"

// TestFixtures reads the directory in each fixture. A fixture whose comment
// holds "dialect: terraform" is read in that dialect.
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
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	want := -1
	for i, file := range archive.Files {
		if file.Name == wantFile {
			want = i
			continue
		}
		write(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	if want < 0 {
		t.Fatalf("%s has no section %q", fixture, wantFile)
	}
	reader := configs.Reader{Terraform: strings.Contains(string(archive.Comment), "dialect: terraform")}
	got := describe(reader.Read(t.Context(), configs.Dir{Path: dir, Display: "."}))
	if *update {
		archive.Files[want].Data = []byte(got)
		write(t, fixture, string(txtar.Format(archive)))
		return
	}
	if diff := cmp.Diff(string(archive.Files[want].Data), got); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
}

// describe is the result of Read as text, one line for each call and each
// diagnostic.
func describe(m *configs.Module, diags hcl.Diagnostics) string {
	var out strings.Builder
	for _, call := range m.Calls {
		fmt.Fprintf(&out, "%s at %s: source %q at %s", call.Name, short(&call.Range), call.Source, short(&call.SourceRange))
		if call.HasVersion {
			fmt.Fprintf(&out, ", version %q at %s", call.Version, short(&call.VersionRange))
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

// write writes a file and makes its directory.
func write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func callNames(m *configs.Module) string {
	var names []string
	for _, call := range m.Calls {
		names = append(names, call.Name)
	}
	return strings.Join(names, " ")
}
