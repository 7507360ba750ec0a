package edit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/edit"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

// An edit changes only the tag in a file, regardless of its syntax. Pins that are not plain
// literals are not changed.
func TestPins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file, text string
		want             string // "" if the edit is refused
	}{
		{
			"native", "main.tf", "# ä\r\nmodule \"net\" { source = \"git::https://MODTEST_HOST/git/net.git?ref=refs/tags/v1.0.0\" }\r\n",
			"# ä\r\nmodule \"net\" { source = \"git::https://MODTEST_HOST/git/net.git?ref=refs/tags/v1.1.0\" }\r\n",
		},
		{
			"JSON", "main.tf.json", `{"module": {"net": {"source": "git::https://MODTEST_HOST/git/net.git?ref=v1.0.0"}}}`,
			`{"module": {"net": {"source": "git::https://MODTEST_HOST/git/net.git?ref=v1.1.0"}}}`,
		},
		{
			"two calls", "main.tf", "module \"net\" {\n  source = \"git::https://MODTEST_HOST/git/net.git?ref=v1.0.0\"\n}\nmodule \"other\" {\n  source = \"git::https://MODTEST_HOST/git/net.git?ref=v1.0.0\" # same\n}\n",
			"module \"net\" {\n  source = \"git::https://MODTEST_HOST/git/net.git?ref=v1.1.0\"\n}\nmodule \"other\" {\n  source = \"git::https://MODTEST_HOST/git/net.git?ref=v1.1.0\" # same\n}\n",
		},
		{
			"credentials", "main.tf", `module "net" { source = "git::https://user:secret@MODTEST_HOST/git/net.git?ref=v1.0.0" }`,
			`module "net" { source = "git::https://user:secret@MODTEST_HOST/git/net.git?ref=v1.1.0" }`,
		},
		{"escapes", "main.tf", `module "net" { source = "git::https://MODTEST_HOST/git/net.git?\u0072ef=v1.0.0" }`, ""},
		{"function", "main.tf", `module "net" { source = lower("git::https://MODTEST_HOST/git/net.git?ref=v1.0.0") }`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.New(t, modtest.Txtar("-- config/"+tt.file+" --\n"+tt.text+"\n-- git/net.git/v1.0.0/main.tf --\n-- git/net.git/v1.1.0/main.tf --\n# newer\n-- git/net.git/1.2.0/main.tf --\n# spelled otherwise\n"))
			dir := t.TempDir()
			testenv.Must(t, world.WriteTree(dir, "config"))
			before := read(t, dir, tt.file)
			pins, err := world.Installer().Pins(t.Context(), installer.Project{Dir: dir, Dialect: installer.DialectOpenTofu}, installer.PinOptions{})
			if err != nil || len(pins) == 0 || pins[0].LatestVersion.String() != "1.1.0" {
				t.Fatalf("Pins = %+v, %v; want those of 1.1.0", pins, err)
			}
			files, err := edit.Files(t.Context(), dir, edit.Changes{Pins: pins})
			if after := read(t, dir, tt.file); after != before {
				t.Errorf("the file was written:\n%s", after)
			}
			if tt.want == "" {
				var call *installer.ModuleError
				var refused *edit.Error
				if !errors.As(err, &call) || !errors.As(err, &refused) || files != nil {
					t.Errorf("edit.Files = %v, %v, want a *ModuleError that wraps an *edit.Error", files, err)
				}
				return
			}
			if err != nil || len(files) != 1 || files[0].Name != tt.file || string(files[0].Old) != before || len(files[0].Edits) != len(pins) {
				t.Fatalf("edit.Files = %+v, %v, want one file", files, err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(tt.want, "MODTEST_HOST", string(world.Host()))+"\n", string(files[0].New)); diff != "" {
				t.Errorf("the new content (-want +got):\n%s", diff)
			}
		})
	}
}

// The constraint of a call moves to the newest version that it does not allow yet. It keeps its major
// version unless the call is named, and its operator.
func TestPinnedConstraints(t *testing.T) {
	t.Parallel()
	all, named := installer.PinOptions{All: true}, installer.PinOptions{Keys: []addrs.Module{{"net"}}}
	to := func(version string) installer.PinOptions {
		return installer.PinOptions{Keys: named.Keys, To: versions.MustParse(version)}
	}
	const registry, address = "source = \"MODTEST_HOST/acme/net/aws\"\nversion = %q", "source = \"git::https://MODTEST_HOST/git/net.git?version=%s&depth=1\""
	for _, tt := range []struct {
		name, call, old string
		options         installer.PinOptions
		want            string // "" if nothing is edited
	}{
		{"allowed", registry, "~> 1.2", all, ""},
		{"other major version", registry, "~> 1.2", named, "~> 2.1"},
		{"all and named", registry, "~> 1.2", installer.PinOptions{All: true, Keys: named.Keys}, "~> 2.1"},
		{"same major version", registry, "~> 1.2.0", all, "~> 1.9.0"},
		{"three numbers", registry, "~> 1.2.0", named, "~> 2.1.4"},
		{"exact", registry, "= 1.2.3", all, "= 1.9.0"},
		{"exact without an operator", registry, "1.2.3", named, "2.1.4"},
		{"lower bound", registry, ">= 1.2", named, ""},
		{"a bound above all versions", registry, ">= 3.0", named, ""},
		{"several conditions", registry, ">= 1, < 2", named, ""},
		{"requested", registry, "~> 1.2", to("2.0.0"), "~> 2.0"},
		{"requested and allowed", registry, "~> 1.2", to("1.2.3"), ""},
		{"a lower bound for a lower version", registry, ">= 2.0", to("1.9.0"), ">= 1.9"},
		{"requested pre-release", registry, "= 1.2.3", to("3.0.0-rc1"), "= 3.0.0-rc1"},
		{"in an address", address, "~> 1.2", named, "~> 2.1"},
		{"escaped in an address", address, "~%3E%201.2", named, "~%3E+2.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var archive strings.Builder
			fmt.Fprintf(&archive, "-- config/main.tf --\nmodule \"net\" {\n"+tt.call+"\n}\n", tt.old)
			for _, v := range []string{"1.2.3", "1.9.0", "2.0.0", "2.1.4", "3.0.0-rc1"} {
				fmt.Fprintf(&archive, "-- registry/acme/net/aws/%s/main.tf --\n# %[1]s\n-- git/net.git/v%[1]s/main.tf --\n# %[1]s\n", v)
			}
			world := modtest.New(t, modtest.Txtar(archive.String()))
			dir := t.TempDir()
			testenv.Must(t, world.WriteTree(dir, "config"))
			pins, err := world.Installer().Pins(t.Context(), installer.Project{Dir: dir, Dialect: installer.DialectOpenTofu}, tt.options)
			if err != nil || len(pins) != 1 {
				t.Fatalf("Pins = %+v, %v, want one", pins, err)
			}
			files, err := edit.Files(t.Context(), dir, edit.Changes{Pins: pins})
			if err != nil || len(files) != min(len(tt.want), 1) {
				t.Fatalf("edit.Files = %+v, %v, want %q", files, err, tt.want)
			}
			if tt.want != "" {
				want := strings.Replace(read(t, dir, "main.tf"), tt.old, tt.want, 1)
				if diff := cmp.Diff(want, string(files[0].New)); diff != "" {
					t.Errorf("the new content (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// The constraints of calls and of requirements are replaced where the reader of the configuration
// has found them.
func TestConstraints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, text, want string }{
		{
			"native", "main.tf", "terraform {\n  required_providers {\n    null = { source = \"hashicorp/null\", version = \"~> 1.0\" } # ä\n  }\n}\nmodule \"net\" {\n  source  = \"acme/net/aws\"\n  version = \"~> 1.0\"\n}\n",
			"terraform {\n  required_providers {\n    null = { source = \"hashicorp/null\", version = \"~> 2.0, != 2.1.0\" } # ä\n  }\n}\nmodule \"net\" {\n  source  = \"acme/net/aws\"\n  version = \"~> 2.0, != 2.1.0\"\n}\n",
		},
		{
			"JSON", "main.tf.json", `{"terraform": {"required_providers": {"null": {"source": "hashicorp/null", "version": "~> 1.0"}}}, "module": {"net": {"source": "acme/net/aws", "version": "~> 1.0"}}}`,
			`{"terraform": {"required_providers": {"null": {"source": "hashicorp/null", "version": "~> 2.0, != 2.1.0"}}}, "module": {"net": {"source": "acme/net/aws", "version": "~> 2.0, != 2.1.0"}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, tt.file, tt.text)
			reader, err := installer.DefaultConfigReader(installer.Project{Dir: dir})
			testenv.Must(t, err)
			config, diags := reader.ReadModule(t.Context(), config.Dir{Dir: dir, Display: ".", Providers: true})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			const to = "~> 2.0, != 2.1.0"
			var changes []edit.Constraint
			for _, c := range config.Calls {
				changes = append(changes, edit.Constraint{Range: c.VersionRange, Old: *c.Version, New: to})
			}
			for _, p := range config.Providers {
				changes = append(changes, edit.Constraint{Range: p.ConstraintRange, Old: p.Constraint, New: to})
			}
			files, err := edit.Files(t.Context(), dir, edit.Changes{Constraints: changes})
			if err != nil || len(files) != 1 || len(files[0].Edits) != 2 {
				t.Fatalf("edit.Files = %+v, %v, want two edits of one file", files, err)
			}
			if diff := cmp.Diff(tt.want, string(files[0].New)); diff != "" {
				t.Errorf("the new content (-want +got):\n%s", diff)
			}
			if e := files[0].Edits[0]; e.Old != "~> 1.0" || e.New != to || string(files[0].Old[e.Range.Start.Byte:e.Range.End.Byte]) != `"~> 1.0"` {
				t.Errorf("the first edit is %+v", e)
			}
		})
	}
}

// Values of one file change together: each new value may have another length than the old one.
func TestSeveralChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "module \"a\" {\n  source = \"git::https://example.com/a.git?ref=v1.9.0\"\n}\nmodule \"b\" {\n  source  = \"acme/b/aws\"\n  version = \"~> 1.0\"\n}\n"
	write(t, dir, "main.tf", text)
	reader, err := installer.DefaultConfigReader(installer.Project{Dir: dir})
	testenv.Must(t, err)
	read, diags := reader.ReadModule(t.Context(), config.Dir{Dir: dir, Display: "."})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	pin := installer.Pin{Path: addrs.Module{"a"}, Call: read.Calls[0], Argument: "ref", Range: read.Calls[0].SourceRange, Value: "v1.9.0", Version: versions.MustParse("1.9.0"), LatestValue: "v1.10.0", LatestVersion: versions.MustParse("1.10.0")}
	to := func(constraint string) edit.Constraint {
		return edit.Constraint{Range: read.Calls[1].VersionRange, Old: "~> 1.0", New: constraint}
	}
	files, err := edit.Files(t.Context(), dir, edit.Changes{Pins: []installer.Pin{pin, pin}, Constraints: []edit.Constraint{to(">= 2.0.0"), to(">= 2.0.0")}})
	if err != nil || len(files) != 1 || len(files[0].Edits) != 2 {
		t.Fatalf("edit.Files = %+v, %v, want two edits of one file", files, err)
	}
	want := strings.NewReplacer("v1.9.0", "v1.10.0", "~> 1.0", ">= 2.0.0").Replace(text)
	if diff := cmp.Diff(want, string(files[0].New)); diff != "" {
		t.Errorf("the new content (-want +got):\n%s", diff)
	}
	if files, err := edit.Files(t.Context(), dir, edit.Changes{Constraints: []edit.Constraint{to("~> 1.0")}}); err != nil || files != nil {
		t.Errorf("without a new value: edit.Files = %+v, %v, want no file", files, err)
	}
	var refused *edit.Error
	if _, err := edit.Files(t.Context(), dir, edit.Changes{Constraints: []edit.Constraint{to("~> 2.0"), to("~> 3.0")}}); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "two different") {
		t.Errorf("two new values: edit.Files = %v", err)
	}
}

func TestRefusedConstraints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = `module "net" { version = "~> 1.0" }`
	write(t, dir, "main.tf", text)
	at := func(literal string) hcl.Range {
		start := strings.Index(text, literal)
		return hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: 1, Byte: start}, End: hcl.Pos{Line: 1, Byte: start + len(literal)}}
	}
	for name, c := range map[string]edit.Constraint{
		"another constraint in the file": {Range: at(`"~> 1.0"`), Old: "~> 1.1", New: "~> 2.0"},
		"not a string":                   {Range: at(`version`), Old: "~> 1.0", New: "~> 2.0"},
		"outside the file":               {Range: hcl.Range{Filename: "main.tf", Start: hcl.Pos{Byte: 90}, End: hcl.Pos{Byte: 99}}, Old: "~> 1.0", New: "~> 2.0"},
		"no constraint to replace":       {New: "~> 2.0"},
		"not a constraint":               {Range: at(`"~> 1.0"`), Old: "~> 1.0", New: "newest"},
		"a template":                     {Range: at(`"~> 1.0"`), Old: "~> 1.0", New: "${var.v}"},
	} {
		var refused *edit.Error
		if files, err := edit.Files(t.Context(), dir, edit.Changes{Constraints: []edit.Constraint{c}}); !errors.As(err, &refused) || files != nil {
			t.Errorf("%s: edit.Files = %v, %v, want an *edit.Error", name, files, err)
		}
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := edit.Files(ctx, dir, edit.Changes{Constraints: []edit.Constraint{{Range: at(`"~> 1.0"`), Old: "~> 1.0", New: "~> 2.0"}}}); !errors.Is(err, stopped) {
		t.Errorf("edit.Files = %v, want the cause of the canceled context", err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	testenv.Must(t, err)
	return string(text)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	testenv.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}
