package configread_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
)

func call(name string) string { return `module "` + name + `" { source = "./x" }` + "\n" }

func TestIsConfigFile(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"main.tf": true, "main.tf.json": true, "main.tofu": true, "main.tofu.json": true,
		"override.tf": true, "#main.tf": true, "a.b.tf": true,
		"main": false, "main.json": false, ".tf": false, ".main.tf": false, "main.tf~": false,
		"#main.tf#": false, "main.tftest.hcl": false, "main.tftest.json": false, "main.TF": false, "": false,
	}
	for name, want := range tests {
		if got := configread.IsConfigFile(name); got != want {
			t.Errorf("IsConfigFile(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestDisplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "sub/main.tf"), call("a"))
	path := filepath.Join(dir, "sub")
	tests := []struct {
		dir  configread.Dir
		want string
	}{
		{configread.Dir{Path: path, Display: "."}, "main.tf"},
		{configread.Dir{Path: path, Display: "../x/"}, "../x/main.tf"},
		{configread.Dir{Path: path}, filepath.ToSlash(path) + "/main.tf"},
		{configread.Dir{Path: path, Files: project.FilesIn(dir), Subdir: "sub", Display: ".terraform/modules/m/sub"}, ".terraform/modules/m/sub/main.tf"},
	}
	for _, test := range tests {
		m, diags := configread.Reader{}.Read(t.Context(), test.dir)
		if diags.HasErrors() || len(m.Calls) != 1 {
			t.Fatalf("Read(%+v) = %v, %v, want one call", test.dir, m.Calls, diags)
		}
		if got := m.Calls[0].Range.Filename; got != test.want {
			t.Errorf("Read(%+v): file name %q, want %q", test.dir, got, test.want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"line ends":       "module \"a\" {\r\n  source = \"./x\"\r\n}\r\n",
		"byte order mark": "\ufeff" + call("a"),
		"no newline":      `module "a" { source = "./x" }`,
	}
	for name, src := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, "main.tf"), src)
			m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir})
			if diags.HasErrors() || len(m.Calls) != 1 || m.Calls[0].Source != "./x" {
				t.Errorf("Read of %q = %v, %v, want one call", src, m.Calls, diags)
			}
		})
	}
}

func TestMissingDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "file"), "")
	tests := map[string]struct {
		dir  configread.Dir
		want error
	}{
		"absent":            {configread.Dir{Path: filepath.Join(dir, "no")}, fs.ErrNotExist},
		"absent in package": {configread.Dir{Path: filepath.Join(dir, "no"), Files: project.FilesIn(dir), Subdir: "no"}, fs.ErrNotExist},
		"no package":        {configread.Dir{Path: filepath.Join(dir, "no"), Files: project.FilesIn(filepath.Join(dir, "no"))}, fs.ErrNotExist},
		"a file":            {configread.Dir{Path: filepath.Join(dir, "file")}, nil},
		"a file in package": {configread.Dir{Path: filepath.Join(dir, "file"), Files: project.FilesIn(dir), Subdir: "file"}, nil},
		"outside":           {configread.Dir{Path: filepath.Dir(dir), Files: project.FilesIn(dir), Subdir: ".."}, fs.ErrInvalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, diags := configread.Reader{}.Read(t.Context(), test.dir)
			if len(m.Calls) != 0 || len(diags) != 1 || diags[0].Summary != "Unreadable module directory" {
				t.Fatalf("Read(%+v) = %v, %v", test.dir, m.Calls, diags)
			}
			if err, _ := diags[0].Extra.(error); err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("Read(%+v): Extra = %v, want %v", test.dir, err, test.want)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), call("a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, diags := configread.Reader{}.Read(ctx, configread.Dir{Path: dir})
	if !diags.HasErrors() {
		t.Fatal("Read with a canceled context gives no error")
	}
	if err, _ := diags[0].Extra.(error); !errors.Is(err, context.Canceled) {
		t.Errorf("Extra = %v, want %v", err, context.Canceled)
	}
}

func TestNesting(t *testing.T) {
	t.Parallel()
	const deep = 24_000
	files := map[string]string{
		"bracket.tf":     "module \"a\" {\n  source = " + strings.Repeat("[", deep) + "\n",
		"parentheses.tf": "module \"a\" {\n  source = " + strings.Repeat("(", deep) + "1" + strings.Repeat(")", deep) + "\n}\n",
		"template.tofu":  "module \"a\" {\n  source = " + strings.Repeat(`"${`, deep) + "1" + strings.Repeat(`}"`, deep) + "\n}\n",
		"block.tf":       call("a") + strings.Repeat("a {\n", 3*deep),
		"minus.tf":       "module \"a\" {\n  source = " + strings.Repeat("-", deep) + "1\n}\n",
		"object.tf.json": `{"module":` + strings.Repeat(`{"a":`, 8*deep),
	}
	for name, src := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, name), src)
			testenv.WriteFile(t, filepath.Join(dir, "fine.tf"), call("fine"))
			m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir, Display: "."})
			if len(m.Calls) != 1 || len(diags) != 1 {
				t.Fatalf("Read = %v, %.500v, want the call of the other file and one error", m.Calls, diags)
			}
			var depth *hcldepth.DepthError
			if err, _ := diags[0].Extra.(error); !errors.As(err, &depth) {
				t.Fatalf("Extra = %v, want a *hcldepth.DepthError", err)
			}
			start := hcl.Pos{Line: depth.Line, Column: depth.Column, Byte: diags[0].Subject.Start.Byte}
			want := hcl.Range{Filename: name, Start: start, End: start}
			if diff := cmp.Diff(want, *diags[0].Subject); diff != "" {
				t.Errorf("Subject (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONTemplateLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	nested := strings.Repeat(`\"${`, 40_000)
	testenv.WriteFile(t, filepath.Join(dir, "main.tf.json"), `{"module":{"a":{"source":"`+nested+`"},"b":{"source":"./b"}}}`)
	m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir})
	if len(m.Calls) != 1 || len(diags) != 1 || diags[0].Summary != "Template too long" {
		t.Errorf("Read = %v, %.500v, want call b and one error", m.Calls, diags)
	}
}

func TestManySyntaxErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), call("a")+strings.Repeat("module \"x\" \"y\" {}\n", 5000))
	m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir})
	if len(m.Calls) != 1 || len(diags) != 21 {
		t.Fatalf("Read = %v and %d diagnostics, want call a and 21", m.Calls, len(diags))
	}
	last := diags[20]
	for _, diag := range diags {
		if diag.Summary == "Too many errors" {
			last = diag
		}
	}
	if !strings.Contains(last.Detail, "4980 more errors") {
		t.Errorf("diagnostic = %v, want \"4980 more errors\" in it", last)
	}
}

func TestUnusualNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"ä.tf", "a b.tf", "-x.tf"} {
		testenv.WriteFile(t, filepath.Join(dir, name), call(strings.TrimSuffix(strings.ReplaceAll("n"+name, " ", "_"), ".tf")))
	}
	testenv.Must(t, os.Mkdir(filepath.Join(dir, "dir.tf"), 0o755))
	m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir})
	if diags.HasErrors() || len(m.Calls) != 3 {
		t.Errorf("Read = %v, %v, want three calls", m.Calls, diags)
	}
}
