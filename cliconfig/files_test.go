package cliconfig_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/cliconfig"
)

// precedence is a test of which token is used if several files and variables have one.
type precedence struct {
	name      string
	files     map[string]string
	environ   []string // HOME stands for the home directory
	terraform bool
	goos      string
	want      string
}

func (p precedence) test(t *testing.T) {
	t.Parallel()
	dir := home(t, p.files)
	env := cliconfig.Environment{Home: dir, GOOS: p.goos}
	for _, entry := range p.environ {
		env.Variables = append(env.Variables, strings.ReplaceAll(entry, "=HOME", "="+dir))
	}
	if got := tokenFor(t, loadWith(t, env, cliconfig.Options{Terraform: p.terraform}), host); got != p.want {
		t.Errorf("the token is %q, want %q", got, p.want)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(mainFiles(), directories(), variables(), onWindows()) {
		t.Run(test.name, test.test)
	}
}

func mainFiles() []precedence {
	return []precedence{
		{name: "nothing"},
		{name: "tofurc before terraformrc", files: map[string]string{".tofurc": credentials("tofu"), ".terraformrc": credentials("terraform")}, want: "tofu"},
		{name: "terraformrc if there is no tofurc", files: map[string]string{".terraformrc": credentials("terraform")}, want: "terraform"},
		{name: "terraform does not read tofurc", files: map[string]string{".tofurc": credentials("tofu")}, terraform: true},
		{name: "terraform reads terraformrc", files: map[string]string{".tofurc": credentials("tofu"), ".terraformrc": credentials("terraform")}, terraform: true, want: "terraform"},
		{name: "XDG", files: map[string]string{"xdg/opentofu/tofurc": credentials("xdg")}, environ: []string{"XDG_CONFIG_HOME=HOME/xdg"}, want: "xdg"},
		{
			name:    "XDG comes last",
			files:   map[string]string{"xdg/opentofu/tofurc": credentials("xdg"), ".terraformrc": credentials("terraform")},
			environ: []string{"XDG_CONFIG_HOME=HOME/xdg"}, want: "terraform",
		},
		{
			name: "terraform does not use XDG", terraform: true,
			files:   map[string]string{"xdg/opentofu/tofurc": credentials("xdg"), "xdg/opentofu/a.tfrc": credentials("directory")},
			environ: []string{"XDG_CONFIG_HOME=HOME/xdg"},
		},
	}
}

func directories() []precedence {
	const empty = `credentials "reg.example.com" {}`
	return []precedence{
		{
			name:  "the directory wins over the main file",
			files: map[string]string{".tofurc": credentials("main"), ".terraform.d/a.tfrc": credentials("directory")},
			want:  "directory",
		},
		{
			name:    "the XDG directory if there is no other",
			files:   map[string]string{".tofurc": credentials("main"), "xdg/opentofu/a.tfrc": credentials("directory")},
			environ: []string{"XDG_CONFIG_HOME=HOME/xdg"}, want: "directory",
		},
		{
			name:    "one directory only",
			files:   map[string]string{"xdg/opentofu/a.tfrc": credentials("xdg"), ".terraform.d/a.tfrc": credentials("directory")},
			environ: []string{"XDG_CONFIG_HOME=HOME/xdg"}, want: "directory",
		},
		{
			name:  "later names win",
			files: map[string]string{".terraform.d/b.tfrc": credentials("b"), ".terraform.d/credentials.tfrc.json": `{"credentials": {"reg.example.com": {"token": "login"}}}`},
			want:  "login",
		},
		{name: "other names are not read", files: map[string]string{".terraform.d/a.tf": credentials("a"), ".terraform.d/credentials.json": credentials("b"), ".terraform.d/tfrc": credentials("c")}},
		{name: "the last block of a file wins", files: map[string]string{".tofurc": credentials("a") + credentials("b")}, want: "b"},
		{name: "a block without a token wins too", files: map[string]string{".tofurc": credentials("main"), ".terraform.d/a.tfrc": empty}},
		{name: "a token is a string", files: map[string]string{".tofurc": "credentials \"reg.example.com\" {\n  token = 1234\n}\n"}},
	}
}

func variables() []precedence {
	return []precedence{
		{
			name:    "a named file is the only one",
			files:   map[string]string{".tofurc": credentials("main"), ".terraform.d/a.tfrc": credentials("directory"), "own": credentials("own")},
			environ: []string{"TF_CLI_CONFIG_FILE=HOME/own"}, want: "own",
		},
		{
			name:    "the old variable",
			files:   map[string]string{".tofurc": credentials("main"), "own": credentials("own"), "old": credentials("old")},
			environ: []string{"TERRAFORM_CONFIG=HOME/old"}, want: "old",
		},
		{
			name:    "the new variable wins over the old one",
			files:   map[string]string{"own": credentials("own"), "old": credentials("old")},
			environ: []string{"TERRAFORM_CONFIG=HOME/old", "TF_CLI_CONFIG_FILE=HOME/own"}, terraform: true, want: "own",
		},
		{
			name:    "an empty variable is none",
			files:   map[string]string{".tofurc": credentials("main")},
			environ: []string{"TERRAFORM_CONFIG=", "TF_CLI_CONFIG_FILE="}, want: "main",
		},
		{
			name:    "the environment wins over all",
			files:   map[string]string{".tofurc": credentials("main"), ".terraform.d/a.tfrc": credentials("directory")},
			environ: []string{"TF_TOKEN_reg_example_com=environment"}, want: "environment",
		},
	}
}

func onWindows() []precedence {
	return []precedence{
		{
			name: "Windows", goos: "windows",
			files:   map[string]string{"data/tofu.rc": credentials("tofu"), "data/terraform.rc": credentials("terraform"), ".tofurc": credentials("unix")},
			environ: []string{"AppData=HOME/data"}, want: "tofu",
		},
		{
			name: "Windows, terraform", goos: "windows", terraform: true,
			files:   map[string]string{"data/tofu.rc": credentials("tofu"), "data/terraform.rc": credentials("terraform")},
			environ: []string{"APPDATA=HOME/data"}, want: "terraform",
		},
		{
			name: "Windows, directory", goos: "windows",
			files:   map[string]string{"data/tofu.rc": credentials("tofu"), "data/terraform.d/a.tfrc": credentials("directory"), "xdg/opentofu/tofurc": credentials("xdg")},
			environ: []string{"APPDATA=HOME/data", "XDG_CONFIG_HOME=HOME/xdg"}, want: "directory",
		},
	}
}

func TestWithoutAHome(t *testing.T) {
	t.Parallel()
	if got := tokenFor(t, load(t, cliconfig.Environment{}), host); got != "" {
		t.Errorf("the zero Environment finds the token %q", got)
	}
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "missing")
	_, diags := loadAll(t.Context(), cliconfig.Environment{Variables: []string{"TF_CLI_CONFIG_FILE=" + name}}, cliconfig.Options{})
	if diags.HasErrors() || len(diags) != 1 || !strings.Contains(diags[0].Detail, "missing") {
		t.Errorf("Load = %v, want one warning that names the file", diags)
	}
	_, diags = loadAll(t.Context(), cliconfig.Environment{Variables: []string{"TF_CLI_CONFIG_FILE=" + t.TempDir()}}, cliconfig.Options{})
	check(t, "a directory", diags)
}
