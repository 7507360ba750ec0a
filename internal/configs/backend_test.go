package configs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/testenv"
)

func backend(lines ...string) string {
	return "terraform {\n  backend \"local\" {\n    " + strings.Join(lines, "\n    ") + "\n  }\n}\n"
}

// backendRow has the files of a root module, and the backend or a part of the error in each
// dialect. terraform is the same as tofu if it is not set.
type backendRow struct {
	name            string
	files           map[string]string
	tofu, terraform backendResult
}

type backendResult struct {
	backend configs.Backend
	err     string
}

func localBackend(path, dir string) configs.Backend {
	return configs.Backend{Type: "local", Local: configs.LocalBackend{Path: path, WorkspaceDir: dir}}
}

func unknownBackend(text string) backendResult { return backendResult{err: text} }

var (
	x            = backendResult{backend: localBackend("x.tfstate", "")}
	notEvaluated = unknownBackend("the path of the backend at main.tf:3 cannot be evaluated")
)

func (row backendRow) check(t *testing.T, reader configs.Reader, want backendResult) {
	t.Parallel()
	dir := t.TempDir()
	for file, text := range row.files {
		testenv.WriteFile(t, filepath.Join(dir, file), text)
	}
	got, err := reader.ReadBackend(t.Context(), configs.Dir{Path: dir, Display: ".", Tree: configs.NewTree(config.Inputs{Workspace: "prod"})})
	if (err != nil) != (want.err != "") || err != nil && !strings.Contains(err.Error(), want.err) {
		t.Fatalf("ReadBackend = %v, want %q", err, want.err)
	}
	if diff := cmp.Diff(want.backend, got); diff != "" {
		t.Errorf("ReadBackend (-want +got):\n%s", diff)
	}
}

func checkBackends(t *testing.T, rows []backendRow) {
	for _, row := range rows {
		if row.terraform == (backendResult{}) {
			row.terraform = row.tofu
		}
		t.Run(row.name+" in tofu", func(t *testing.T) { row.check(t, configs.Reader{}, row.tofu) })
		t.Run(row.name+" in terraform", func(t *testing.T) { row.check(t, configs.Reader{Terraform: true}, row.terraform) })
	}
}

func TestReadBackend(t *testing.T) {
	t.Parallel()
	checkBackends(t, []backendRow{
		{name: "nothing", files: map[string]string{"main.tf": "locals {}\n"}},
		{name: "no files"},
		{name: "no arguments", files: map[string]string{"main.tf": backend("")}, tofu: backendResult{backend: localBackend("", "")}},
		{name: "both arguments", files: map[string]string{"main.tf": backend(`path = "x"`, `workspace_dir = "y"`)}, tofu: backendResult{backend: localBackend("x", "y")}},
		{name: "null", files: map[string]string{"main.tf": backend(`path = null`)}, tofu: backendResult{backend: localBackend("", "")}},
		{name: "a number", files: map[string]string{"main.tf": backend(`path = 12`)}, tofu: backendResult{backend: localBackend("12", "")}},
		{name: "a boolean", files: map[string]string{"main.tf": backend(`path = true`)}, tofu: backendResult{backend: localBackend("true", "")}},
		{name: "an empty string", files: map[string]string{"main.tf": backend(`path = ""`)}, tofu: notEvaluated},
		{name: "a list", files: map[string]string{"main.tf": backend(`path = ["x"]`)}, tofu: notEvaluated},
		{name: "a label without quotes", files: map[string]string{"main.tf": "terraform {\n  backend local {\n    path = \"x.tfstate\"\n  }\n}\n"}, tofu: x},
		{name: "another backend", files: map[string]string{"main.tf": "terraform {\n  backend \"s3\" {\n    path = var.x\n  }\n}\n"}, tofu: backendResult{backend: configs.Backend{Type: "s3"}}},
		{name: "a cloud block", files: map[string]string{"main.tf": "terraform {\n  cloud {}\n}\n"}, tofu: backendResult{backend: configs.Backend{Type: "cloud"}}},

		{name: "JSON", files: map[string]string{"main.tf.json": `{"terraform": {"backend": {"local": {"//": "a comment", "path": "x.tfstate"}}}}`}, tofu: x},
		{name: "JSON with lists", files: map[string]string{"main.tf.json": `{"terraform": [{"backend": [{"local": [{"path": "x.tfstate"}]}]}]}`}, tofu: x},
		{
			name: "a template in JSON", files: map[string]string{"main.tf.json": `{"terraform": {"backend": {"local": {"path": "${\"x\"}.tfstate"}}}}`},
			tofu: x, terraform: backendResult{backend: localBackend(`${"x"}.tfstate`, "")},
		},
		{name: "JSON with an escaped name", files: map[string]string{"main.tf.json": `{"terraform": {"b\u0061ckend": {"local": {"path": "x.tfstate"}}}}`}, tofu: x},

		{name: "an override", files: map[string]string{"main.tf": backend(`path = "y"`, `workspace_dir = "y"`), "a_override.tf": backend(`path = "x.tfstate"`)}, tofu: x},
		{name: "an override without arguments", files: map[string]string{"main.tf": backend(`path = "y"`), "override.tf": backend("")}, tofu: backendResult{backend: localBackend("", "")}},
		{name: "two overrides", files: map[string]string{"main.tf": backend(`path = "y"`), "a_override.tf": backend(`path = "z"`), "b_override.tf": backend(`path = "x.tfstate"`)}, tofu: x},
		{name: "only an override", files: map[string]string{"override.tf.json": `{"terraform": {"backend": {"local": {"path": "x.tfstate"}}}}`}, tofu: x},
		{name: "an override by another backend", files: map[string]string{"main.tf": backend(`path = "x"`), "override.tf": "terraform {\n  backend \"s3\" {}\n}\n"}, tofu: backendResult{backend: configs.Backend{Type: "s3"}}},
		{name: "an override by a cloud block", files: map[string]string{"main.tf": backend(`path = "x"`), "override.tf": "terraform {\n  cloud {}\n}\n"}, tofu: backendResult{backend: configs.Backend{Type: "cloud"}}},
		{name: "an override of a cloud block", files: map[string]string{"main.tf": "terraform {\n  cloud {}\n}\n", "override.tf": backend(`path = "x.tfstate"`)}, tofu: x},
		{name: "an override of something else", files: map[string]string{"main.tf": backend(`path = "x.tfstate"`), "override.tf": "terraform {\n  required_version = \"1.5.0\"\n}\n"}, tofu: x},
		{name: "a .tofu file", files: map[string]string{"main.tf": backend(`path = "y"`), "main.tofu": backend(`path = "x.tfstate"`)}, tofu: x, terraform: backendResult{backend: localBackend("y", "")}},

		{name: "two blocks", files: map[string]string{"main.tf": backend(""), "z.tf": backend("")}, tofu: unknownBackend("more than one backend")},
		{name: "two blocks in a file", files: map[string]string{"main.tf": backend("") + "terraform {\n  cloud {}\n}\n"}, tofu: unknownBackend("more than one backend")},
		{name: "a broken file", files: map[string]string{"main.tf": backend("") + "}\n"}, tofu: unknownBackend("main.tf cannot be read")},
	})
	if _, err := (configs.Reader{}).ReadBackend(t.Context(), configs.Dir{Path: filepath.Join(t.TempDir(), "gone")}); err == nil {
		t.Error("ReadBackend of a directory that does not exist is no error")
	}
}

// In the tofu dialect, arguments are evaluated like the sources of modules.
func TestReadBackendExpressions(t *testing.T) {
	t.Parallel()
	checkBackends(t, []backendRow{
		{name: "a variable with a default", files: map[string]string{"main.tf": backend(`path = "${var.a}.tfstate"`), "v.tf": "variable \"a\" {\n  default = \"x\"\n}\n"}, tofu: x, terraform: notEvaluated},
		{name: "a variable with a value", files: map[string]string{"main.tf": backend(`path = "${local.a}.tfstate"`), "v.tf": "variable \"a\" {}\nlocals {\n  a = var.a\n}\n", "terraform.tfvars": "a = \"x\"\n"}, tofu: x, terraform: notEvaluated},
		{name: "a variable without a value", files: map[string]string{"main.tf": backend(`path = var.a`), "v.tf": "variable \"a\" {}\n"}, tofu: notEvaluated},
		{name: "a sensitive variable", files: map[string]string{"main.tf": backend(`path = var.a`), "v.tf": "variable \"a\" {\n  default = \"x\"\n  sensitive = true\n}\n"}, tofu: notEvaluated},
		{name: "a resource", files: map[string]string{"main.tf": backend(`path = null_resource.a.id`)}, tofu: notEvaluated},
		{name: "path.root", files: map[string]string{"main.tf": backend(`path = "${path.root}/x.tfstate"`)}, tofu: backendResult{backend: localBackend("./x.tfstate", "")}, terraform: notEvaluated},
		{name: "the workspace", files: map[string]string{"main.tf": backend(`workspace_dir = "${terraform.workspace}.d"`)}, tofu: backendResult{backend: localBackend("", "prod.d")}, terraform: unknownBackend("workspace_dir")},
		{name: "a function", files: map[string]string{"main.tf": backend(`path = trimspace(" x.tfstate ")`)}, tofu: x, terraform: notEvaluated},
		{name: "a file elsewhere", files: map[string]string{"main.tf": backend(`path = file("/etc/hostname")`)}, tofu: notEvaluated},
		{name: "endless work", files: map[string]string{"main.tf": backend(`path = join("", flatten([for a in range(1000) : [for b in range(1000) : [for c in range(1000) : "x"]]]))`)}, tofu: notEvaluated},
	})
}

// The hashes are those that both stock tools have recorded for these arguments.
func TestLocalBackendHash(t *testing.T) {
	t.Parallel()
	for backend, want := range map[configs.LocalBackend]uint64{
		{}:                             666019178,
		{Path: "y.tfstate"}:            616693309,
		{Path: "a", WorkspaceDir: "b"}: 1266832654,
	} {
		if got := backend.Hash(); got != want {
			t.Errorf("%+v has the hash %d, want %d", backend, got, want)
		}
	}
}
