package configread_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
)

// repositoryBesideSecret returns the directory of a secret and of the repository repo, with files and links.
func repositoryBesideSecret(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	testenv.WriteFile(t, filepath.Join(base, "secret"), "CANARY")
	testenv.WriteFile(t, filepath.Join(base, "repo/.git/config"), "CANARY")
	testenv.WriteFile(t, filepath.Join(base, "repo/VERSION"), "1.2.3")
	testenv.WriteFile(t, filepath.Join(base, "repo/root/x"), "own")
	testenv.WriteFile(t, filepath.Join(base, "repo/sets/a/v1.txt"), "")
	testenv.WriteFile(t, filepath.Join(base, "repo/sets/b/v1.md"), "")
	testenv.WriteFile(t, filepath.Join(base, "repo/sets/.git/v2.txt"), "")
	if err := os.Symlink("../a", filepath.Join(base, "repo/sets/b/linked")); err != nil {
		t.Skip(err)
	}
	testenv.WriteFile(t, filepath.Join(base, "repo/outside/x"), "")
	testenv.Must(t, os.Symlink("../../secret", filepath.Join(base, "repo/outside/secret.txt")))
	return base
}

// TestFileReads reads files in the user's own modules. Without AllowFileReads, only files of the
// repository can be read.
func TestFileReads(t *testing.T) {
	t.Parallel()
	base := repositoryBesideSecret(t)
	tests := map[string]string{ // each expression with the expected source, or "" if it is refused
		`file("x")`:                                     "own",
		`file("${path.root}/x")`:                        "own",
		`file(abspath("x"))`:                            "own",
		`"./${file("../VERSION")}"`:                     "./1.2.3",
		`templatefile("../VERSION", {})`:                "1.2.3",
		`fileexists("../no") ? "yes" : "no"`:            "no",
		`join(" ", fileset("../sets", "**/*.txt"))`:     "a/v1.txt b/linked/v1.txt",
		`join(" ", fileset("../sets/*", "*.md"))`:       "../b/v1.md",
		`join(" ", fileset(abspath("../sets"), "?/*"))`: "a/v1.txt b/v1.md",
		`one(fileset("../..", "*"))`:                    "",
		`one(fileset("../../missing", "*"))`:            "",
		`one(fileset("../outside", "*"))`:               "",
		`one(fileset("../.git", "c*"))`:                 "",
		`file("../../secret")`:                          "",
		`file("` + filepath.Join(base, "secret") + `")`: "",
		`file("../.git/config")`:                        "",
		`file(abspath("../.git/config"))`:               "",
		`file("../.GIT/config")`:                        "",
		`templatefile("../../secret", {})`:              "",
		`fileexists("../../secret") ? "yes" : "no"`:     "",
		`fileexists("../../missing") ? "yes" : "no"`:    "",
		`try(file("../../missing"), "no")`:              "",
	}
	for expr, want := range tests {
		root := configread.Dir{Path: filepath.Join(base, "repo/root"), Display: "."}
		for place, read := range map[string]func() (string, hcl.Diagnostics){
			"root module": func() (string, hcl.Diagnostics) {
				testenv.WriteFile(t, filepath.Join(root.Path, "main.tf"), "module \"a\" {\n  source = "+expr+"\n}\n")
				return readSource(t, root)
			},
			"local module": func() (string, hcl.Diagnostics) {
				tree := rootOf(t, root.Path)
				testenv.WriteFile(t, filepath.Join(base, "repo/local/main.tf"), "module \"a\" {\n  source = "+expr+"\n}\n")
				return readSource(t, configread.Dir{Path: filepath.Join(base, "repo/local"), Display: "../local", Module: addrs.Module{"p"}, Tree: tree})
			},
			"argument": func() (string, hcl.Diagnostics) {
				testenv.WriteFile(t, filepath.Join(root.Path, "main.tf"), "module \"p\" {\n  source = \"./p\"\n  in = "+expr+"\n}\n")
				tree := configread.NewTree(config.Inputs{})
				m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: root.Path, Display: ".", Tree: tree})
				if len(m.Calls) != 1 {
					t.Fatal(diags)
				}
				pkg := filepath.Join(base, "stage/pkg")
				testenv.WriteFile(t, filepath.Join(pkg, "main.tf"), "variable \"in\" {}\nmodule \"a\" {\n  source = var.in\n}\n")
				return readSource(t, configread.Dir{Path: pkg, Files: project.FilesIn(pkg), Display: ".terraform/modules/p", Module: addrs.Module{"p"}, Tree: tree})
			},
		} {
			source, diags := read()
			if source != want || diags.HasErrors() != (want == "") {
				t.Errorf("%s in %s = %q, %v, want %q", expr, place, source, diags, want)
			}
			if want != "" {
				continue
			}
			refused, ok := hcl.DiagnosticExtra[*config.FileReadError](diags[0])
			if !ok || filepath.Base(refused.Allowed) != "repo" || strings.Contains(diags.Error(), "CANARY") {
				t.Errorf("%s in %s: %v with %v, want a refused file", expr, place, diags, refused)
			}
		}
	}
	for _, expr := range []string{`file("../../secret")`, `file("` + filepath.Join(base, "secret") + `")`, `file("../.git/config")`} {
		testenv.WriteFile(t, filepath.Join(base, "repo/root/main.tf"), "module \"a\" {\n  source = "+expr+"\n}\n")
		dir := configread.Dir{Path: filepath.Join(base, "repo/root"), Display: ".", Tree: configread.NewTree(config.Inputs{AllowFileReads: true})}
		if source, diags := readSource(t, dir); source != "CANARY" {
			t.Errorf("%s with AllowFileReads = %q, %v, want the file", expr, source, diags)
		}
	}
}

// TestLinkedVariables reads files of values that are links. A link may only point to a file of the
// repository, unless the user has named the file.
func TestLinkedVariables(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	const credentials = `{"credentials": {"app.example.com": {"token": "CANARY"}}}`
	testenv.WriteFile(t, filepath.Join(base, "credentials.tfrc.json"), credentials)
	testenv.WriteFile(t, filepath.Join(base, "repo/.git/credentials.json"), credentials)
	testenv.WriteFile(t, filepath.Join(base, "repo/shared.json"), credentials)
	root := filepath.Join(base, "repo/root")
	testenv.WriteFile(t, filepath.Join(root, "main.tf"), "variable \"credentials\" {}\nmodule \"a\" {\n  source = \"./${var.credentials[\"app.example.com\"].token}\"\n}\n")
	tests := []struct {
		name, target string
		inputs       config.Inputs
		want         bool
	}{
		{name: "terraform.tfvars.json", target: "../shared.json", inputs: config.Inputs{}, want: true},
		{name: "terraform.tfvars.json", target: "../../credentials.tfrc.json", inputs: config.Inputs{}},
		{name: "x.auto.tfvars.json", target: filepath.Join(base, "credentials.tfrc.json"), inputs: config.Inputs{}},
		{name: "x.auto.tfvars.json", target: "../.git/credentials.json", inputs: config.Inputs{}},
		{name: "x.auto.tfvars.json", target: "../../credentials.tfrc.json", inputs: config.Inputs{AllowFileReads: true}, want: true},
		{name: "x.json", target: "../../credentials.tfrc.json", inputs: config.Inputs{Variables: []config.Variable{{File: "x.json"}}}, want: true},
	}
	for _, test := range tests {
		link := filepath.Join(root, test.name)
		if err := os.Symlink(test.target, link); err != nil {
			t.Skip(err)
		}
		source, diags := readSource(t, configread.Dir{Path: root, Display: ".", Tree: configread.NewTree(test.inputs)})
		if test.want && source != "./CANARY" {
			t.Errorf("%s -> %s: %q, %v, want the value", test.name, test.target, source, diags)
		}
		if !test.want {
			refused := &config.FileReadError{}
			if len(diags) == 1 {
				refused, _ = hcl.DiagnosticExtra[*config.FileReadError](diags[0])
			}
			if refused == nil || refused.Path != test.name || strings.Contains(source+diags.Error(), "CANARY") {
				t.Errorf("%s -> %s: %q, %v, want a refused file", test.name, test.target, source, diags)
			}
		}
		testenv.Must(t, os.Remove(link))
	}
}
