package cliconfig_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/internal/testenv"
)

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
	if p.files == nil {
		env.Home = "" // nor is there a home
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

const (
	host   = addrs.Hostname("reg.example.com")
	canary = "canary-4711"
)

func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text, 0o600)
	}
	return dir
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	testenv.Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	testenv.Must(t, os.WriteFile(name, []byte(text), mode))
}

// script writes a program in which "$LOG" is the name of a file for its log, and
// returns that name.
func script(t *testing.T, name, text string) (log string) {
	t.Helper()
	testenv.Program(t, "/bin/sh")
	log = name + ".log"
	testenv.WriteProgram(t, name, "#!/bin/sh\nLOG='"+log+"'\n"+text)
	return log
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func load(t *testing.T, env cliconfig.Environment) *cliconfig.Config {
	t.Helper()
	return loadWith(t, env, cliconfig.Options{})
}

func loadWith(t *testing.T, env cliconfig.Environment, opts cliconfig.Options) *cliconfig.Config {
	t.Helper()
	config, diags := loadAll(t.Context(), env, opts)
	if len(diags) > 0 {
		t.Fatalf("Load: %v", diags)
	}
	return config
}

func loadAll(ctx context.Context, env cliconfig.Environment, opts cliconfig.Options) (*cliconfig.Config, hcl.Diagnostics) {
	var all, faults hcl.Diagnostics
	warn := opts.Warn
	loading := true
	opts.Warn = func(text string) {
		if loading {
			all = append(all, &hcl.Diagnostic{Severity: hcl.DiagWarning, Detail: text})
		} else if warn != nil {
			warn(text)
		}
	}
	config, err := env.Load(ctx, opts)
	loading = false
	errors.As(err, &faults)
	return config, append(all, faults...)
}

func tokenFor(t *testing.T, config *cliconfig.Config, host addrs.Hostname) string {
	t.Helper()
	token, ok, err := config.Token(t.Context(), host)
	if err != nil {
		t.Errorf("Token(%q): %v", host, err)
	}
	if !ok && string(token) != "" {
		t.Errorf("Token(%q) = a token and false", host)
	}
	return string(token)
}

// check reports an error of t if there are no errors, or if one has the canary.
func check(t *testing.T, name string, diags hcl.Diagnostics) {
	t.Helper()
	if !diags.HasErrors() {
		t.Errorf("%s: no error", name)
	}
	for _, diag := range diags {
		if text := fmt.Sprintf("%s %s %+v", diag.Summary, diag.Detail, diag.Extra); strings.Contains(text, canary) {
			t.Errorf("%s: the message has the secret: %s", name, text)
		}
	}
}

func credentials(token string) string {
	return fmt.Sprintf("credentials \"reg.example.com\" {\n  token = %q\n}\n", token)
}
