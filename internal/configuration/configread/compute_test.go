package configread_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
)

func readSource(t testing.TB, dir configread.Dir) (string, hcl.Diagnostics) {
	t.Helper()
	m, diags := configread.Reader{}.Read(context.Background(), dir)
	if len(m.Calls) == 0 {
		return "", diags
	}
	return m.Calls[0].Source, diags
}

func TestBombs(t *testing.T) {
	t.Parallel()
	doubling := "locals {\n  l0 = \"x\"\n"
	nesting := "locals {\n  l0 = [1]\n"
	chain := "locals {\n  l0 = \"x\"\n"
	for i := range 60 {
		doubling += fmt.Sprintf("  l%d = \"${local.l%d}${local.l%d}\"\n", i+1, i, i)
		nesting += fmt.Sprintf("  l%d = [local.l%d, local.l%d]\n", i+1, i, i)
	}
	for i := range 600 {
		chain += fmt.Sprintf("  l%d = local.l%d\n", i+1, i)
	}
	numbers := make([]string, 100_000)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i)
	}
	tests := map[string]struct{ src, want string }{
		"doubling":    {doubling + "}\nmodule \"a\" { source = local.l60 }\n", "Expression too expensive"},
		"nesting":     {nesting + "}\nmodule \"a\" { source = \"./${length(local.l60)}\" }\n", "Expression too expensive"},
		"chain":       {chain + "}\nmodule \"a\" { source = local.l600 }\n", "Too many references"},
		"self":        {"locals { a = local.a }\nmodule \"a\" { source = local.a }\n", "Circular reference"},
		"large set":   {"variable \"s\" {\n  type = set(number)\n  default = [" + strings.Join(numbers, ",") + "]\n}\nmodule \"a\" { source = \"./${length(var.s)}\" }\n", ""},
		"long text":   {"variable \"s\" {\n  default = \"" + strings.Repeat("x", 3<<20) + "\"\n}\nmodule \"a\" { source = var.s }\n", "Expression too expensive"},
		"infinite":    {"module \"a\" { source = \"./${log(0, 10) - log(0, 10)}\" }\n", "Operation failed"},
		"deep type":   {"variable \"s\" {\n  type = " + strings.Repeat("list(", 150) + "string" + strings.Repeat(")", 150) + "\n  default = []\n}\nmodule \"a\" { source = var.s }\n", "Unsuitable value type"},
		"for in type": {"variable \"s\" {\n  type = " + strings.Repeat("[for x in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : ", 30) + "0" + strings.Repeat("]", 30) + "\n}\nmodule \"a\" { source = var.s }\n", "Invalid type"},
		"not closed":  {"locals { a = " + strings.Repeat("[", 60_000) + "\n}\nmodule \"a\" { source = local.a }\n", "Configuration nested too deeply"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, "main.tf"), test.src)
			_, diags := readSource(t, configread.Dir{Path: dir})
			if len(diags) != 1 || test.want != "" && diags[0].Summary != test.want || diags[0].Subject == nil {
				t.Errorf("Read = %.300v, want one %q", diags, test.want)
			}
		})
	}
}

// TestFilesOfPackages reads files in a package's module. The module can read only the files of
// its package, by the names that they have after installation.
func TestFilesOfPackages(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	testenv.WriteFile(t, filepath.Join(base, "secret"), "CANARY")
	pkg := filepath.Join(base, "stage/pkg")
	testenv.WriteFile(t, filepath.Join(pkg, "shared/x"), "shared")
	testenv.WriteFile(t, filepath.Join(pkg, "modules/m/x"), "own")
	testenv.Must(t, os.Symlink("../../../../secret", filepath.Join(pkg, "modules/m/link")))
	tests := map[string]string{ // each expression with the expected source or error
		`file("${path.module}/x")`:                             "own",
		`file("${path.module}/../../shared/x")`:                "shared",
		`templatefile("${path.module}/x", {})`:                 "own",
		`fileexists("${path.module}/x") ? "yes" : "no"`:        "yes",
		`fileexists("${path.module}/no") ? "yes" : "no"`:       "no",
		`abspath("${path.module}/x")`:                          `Call to function "abspath" failed: a package's modules may not use the absolute path`,
		`basename(abspath("."))`:                               `Call to function "abspath" failed`,
		`try(abspath("."), "none")`:                            "none",
		`basename(path.cwd)`:                                   "path.cwd cannot be used here: a package's modules may not use the absolute path",
		`try(path.cwd, "none")`:                                "path.cwd cannot be used here",
		`"${path.root}/x"`:                                     "./x",
		`file("${path.module}/no")`:                            "no such file",
		`file("${path.module}/link")`:                          "escapes",
		`file("${path.module}/../../../../secret")`:            "not in the module's package",
		`file("` + filepath.Join(base, "secret") + `")`:        "not in the module's package",
		`file("secret")`:                                       "not in the module's package",
		`fileexists("/etc/passwd") ? "yes" : "no"`:             "not in the module's package",
		`file("${path.module}")`:                               "not a regular file",
		`file("${path.module}/../..")`:                         "not a regular file",
		`file("${path.module}/../../..")`:                      "not in the module's package",
		`join(" ", fileset("${path.module}/../..", "*/x"))`:    "shared/x",
		`join(" ", fileset(path.module, "**"))`:                "escapes",
		`join(" ", fileset("${path.module}/../..", "s**/x"))`:  "shared/x",
		`join(" ", fileset("secret", "*"))`:                    "not in the module's package",
		`join(" ", fileset("${path.module}/../../..", "*"))`:   "not in the module's package",
		`file("${path.module}/../../../mods.x/../pkg/secret")`: "not in the module's package",
	}
	for expr, want := range tests {
		testenv.WriteFile(t, filepath.Join(pkg, "modules/m/main.tf"), "module \"a\" {\n  source = "+expr+"\n}\n")
		source, diags := readSource(t, configread.Dir{Path: filepath.Join(pkg, "modules/m"), Files: project.FilesIn(pkg), Subdir: "modules/m", Display: ".terraform/modules/p/modules/m", Module: addrs.Module{"p"}, Tree: rootOf(t, base)})
		if source != want && !strings.Contains(diags.Error(), want) || strings.Contains(diags.Error()+source, "CANARY") {
			t.Errorf("%s = %q, %v, want %q", expr, source, diags, want)
		}
	}
}

func rootOf(t *testing.T, dir string) *configread.Tree {
	t.Helper()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), call("p"))
	tree := configread.NewTree(config.Inputs{})
	m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir, Display: ".", Tree: tree})
	if len(m.Calls) != 1 {
		t.Fatal(diags)
	}
	return tree
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	const decl = "variable \"s\" {\n  sensitive = true\n  %s\n}\nmodule \"a\" { source = \"./${%s}\" }\n"
	for _, kind := range []string{"", "type = number", "type = list(string)", "type = object({ a = number })"} {
		for _, expr := range []string{"var.s", "tonumber(var.s)", "var.s.x", "var.s[0]", "try(var.s.a, tonumber(\"x${var.s}\"))", "jsondecode(var.s)", "nonsensitive(tonumber(var.s))"} {
			for _, value := range []string{"CANARY", `["CANARY"]`, `{ a = "CANARY" }`, `"CANARY`, `CANARY(`, `{ CANARY = 1 }`} {
				dir := t.TempDir()
				testenv.WriteFile(t, filepath.Join(dir, "main.tf"), fmt.Sprintf(decl, kind, expr))
				testenv.WriteFile(t, filepath.Join(dir, "x.tfvars"), "s = "+value+"\n")
				for _, inputs := range []config.Inputs{
					{Variables: []config.Variable{{Name: "s", Value: value}}},
					{Variables: []config.Variable{{File: "x.tfvars"}}},
					{Environment: map[string]string{"s": value}},
				} {
					source, diags := readSource(t, configread.Dir{Path: dir, Tree: configread.NewTree(inputs)})
					if source != "" || !diags.HasErrors() || strings.Contains(diags.Error(), "CANARY") {
						t.Errorf("%s, %s, %+v: source %q, %v; want an error without the value", kind, expr, inputs, source, diags)
					}
				}
			}
		}
	}
}

func TestMissingInputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), "variable \"s\" {}\nmodule \"a\" { source = var.s }\n")
	testenv.WriteFile(t, filepath.Join(dir, "bad.tfvars"), "s = \n")
	testenv.WriteFile(t, filepath.Join(dir, "block.tfvars"), "s {}\n")
	testenv.WriteFile(t, filepath.Join(dir, "call.tfvars"), "s = upper(\"x\")\n")
	for file, want := range map[string]string{"no.tfvars": "no such file", "bad.tfvars": "expression", "block.tfvars": "block", "call.tfvars": "Function calls not allowed"} {
		inputs := config.Inputs{Variables: []config.Variable{{File: file}}}
		_, diags := readSource(t, configread.Dir{Path: dir, Tree: configread.NewTree(inputs)})
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("-var-file %s: %v, want %q", file, diags, want)
		}
	}
}

// TestConcurrentReads reads modules on the same level concurrently. All of them need the same
// values from their caller.
func TestConcurrentReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wideTree(t, dir, 100, true)
	tree := configread.NewTree(config.Inputs{})
	m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir, Display: ".", Tree: tree})
	if diags.HasErrors() || len(m.Calls) != 100 {
		t.Fatal(len(m.Calls), diags)
	}
	var wait sync.WaitGroup
	for _, call := range m.Calls {
		wait.Go(func() {
			source, diags := readSource(t, configread.Dir{Path: filepath.Join(dir, call.Source), Display: call.Source, Module: addrs.Module{call.Name}, Tree: tree})
			if want := "./prod-" + call.Name; source != want || diags.HasErrors() {
				t.Errorf("source %q, %v, want %q", source, diags, want)
			}
		})
	}
	wait.Wait()
}

// wideTree writes a root module that calls n modules. Each of these has one call, whose source
// is literal or computed.
func wideTree(t testing.TB, dir string, n int, computed bool) {
	t.Helper()
	var root strings.Builder
	root.WriteString("variable \"env\" { default = \"prod\" }\nlocals { base = \"./mods\" }\n")
	for i := range n {
		source, inner := fmt.Sprintf("./mods/m%d", i), fmt.Sprintf("./prod-m%d", i)
		if computed {
			source, inner = fmt.Sprintf("${local.base}/m%d", i), "./${var.name}"
		}
		fmt.Fprintf(&root, "module \"m%d\" {\n  source = %q\n  name = \"${var.env}-m%d\"\n}\n", i, source, i)
		testenv.WriteFile(t, filepath.Join(dir, fmt.Sprintf("mods/m%d/main.tf", i)), fmt.Sprintf("module \"a\" {\n  source = %q\n}\n\nresource \"x\" \"y\" {\n  z = module.a.z\n}\n", inner))
		testenv.WriteFile(t, filepath.Join(dir, fmt.Sprintf("mods/m%d/variables.tf", i)), "variable \"name\" {\n  type = string\n}\n")
	}
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), root.String())
}

func BenchmarkTree(b *testing.B) {
	for name, computed := range map[string]bool{"literal": false, "computed": true} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			wideTree(b, dir, 2000, computed)
			for b.Loop() {
				tree := configread.NewTree(config.Inputs{})
				m, diags := configread.Reader{}.Read(b.Context(), configread.Dir{Path: dir, Display: ".", Tree: tree})
				if diags.HasErrors() || len(m.Calls) != 2000 {
					b.Fatal(len(m.Calls), diags)
				}
				for _, call := range m.Calls {
					child := configread.Dir{Path: filepath.Join(dir, call.Source), Display: call.Source, Module: addrs.Module{call.Name}, Tree: tree}
					if source, diags := readSource(b, child); source != "./prod-"+call.Name {
						b.Fatal(source, diags)
					}
				}
			}
		})
	}
}
