package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

const (
	secret       = "canary-token-4711"
	privateWorld = `
-- config/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "1.0.0"
}
-- registry/acme/net/aws/1.0.0/main.tf --
output "x" { value = 1 }
`
)

// user has a home directory and environment variables, and installs a module from a registry
// that requires a token.
type user struct {
	name  string
	files map[string]string // in the home directory; HOST stands for the registry
	env   []string
	args  []string
	fails string // a part of the error message; "" for success
}

func users() []user {
	const (
		block  = "credentials \"HOST\" {\n  token = \"" + secret + "\"\n}\n"
		helper = "credentials_helper \"test\" {\n  args = [\"" + secret + "\"]\n}\n"
		answer = "#!/bin/sh\n[ \"$*\" = '" + secret + " get HOST' ] && echo '{\"token\": \"" + secret + "\"}'\n"
		plugin = ".terraform.d/plugins/terraform-credentials-test"
	)
	return []user{
		{name: "variable", env: []string{"TF_TOKEN_HOST=" + secret}},
		{name: "block", files: map[string]string{".tofurc": block}},
		{name: "terraform's block", files: map[string]string{".terraformrc": block}},
		{name: "terraform's block for terraform", files: map[string]string{".terraformrc": block}, args: []string{"--for=terraform"}},
		{name: "own file", files: map[string]string{"own.rc": block}, env: []string{"TF_CLI_CONFIG_FILE=HOME/own.rc"}},
		{name: "login", files: map[string]string{".terraform.d/credentials.tfrc.json": `{"credentials": {"HOST": {"token": "` + secret + `"}}}`}},
		{name: "helper", files: map[string]string{".tofurc": helper, plugin: answer}},
		{name: "services", files: map[string]string{".tofurc": block + "host \"HOST\" {\n  services {\n    \"modules.v1\" = \"https://HOST/v1/modules/\"\n  }\n}\n"}},
		{name: "limits", files: map[string]string{".tofurc": block + "registry_protocols {\n  retry_count = 0\n  request_timeout_seconds = 60\n}\n"}},

		{name: "nothing", fails: "401"},
		{name: "wrong token", env: []string{"TF_TOKEN_HOST=" + secret + "-wrong"}, fails: "401"},
		{name: "other port", env: []string{"TF_TOKEN_127.0.0.1=" + secret}, fails: "401"},
		{name: "tofu's block for terraform", files: map[string]string{".tofurc": block}, args: []string{"--for=terraform"}, fails: "401"},
		{name: "broken helper", files: map[string]string{".tofurc": helper, plugin: "#!/bin/sh\necho " + secret + "\necho " + secret + " >&2\nexit 7\n"}, fails: "exit status 7"},
		{name: "no helper", files: map[string]string{".tofurc": helper}, fails: "terraform-credentials-test"},
		{name: "broken file", files: map[string]string{".tofurc": "credentials \"HOST\" {\n  token = " + secret + "\n}\n"}, fails: ".tofurc"},
	}
}

// TestCredentials installs with each way to configure a token. The token must not appear in
// the output or in a file.
func TestCredentials(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("/bin/sh is not installed")
	}
	world := modtest.NewWith(t, modtest.Txtar(privateWorld), modtest.Options{Token: secret})
	for _, u := range users() {
		for _, format := range []string{"--json", "--no-color"} {
			t.Run(u.name+format, func(t *testing.T) {
				t.Parallel()
				u.install(t, world, format)
			})
		}
	}
}

func (u user) install(t *testing.T, world *modtest.World, format string) {
	t.Helper()
	home, project, cache := t.TempDir(), world.Dir(t, "config"), t.TempDir()
	expand := strings.NewReplacer("HOST", string(world.Host()), "HOME", home).Replace
	for name, text := range u.files {
		writeProgram(t, filepath.Join(home, name), expand(text))
	}
	env := append(world.Env(), "HOME="+home, "PATH="+os.Getenv("PATH"), "CI=1")
	for _, entry := range u.env {
		env = append(env, expand(entry))
	}
	out, err := warm.run(project, env, append([]string{"install", "--locked=false", format, "--cache-dir", cache}, u.args...)...)
	if (err == nil) != (u.fails == "") || !strings.Contains(out, u.fails) {
		t.Errorf("cotter install: %v, want a failure with %q\n%s", err, u.fails, out)
	}
	if strings.Contains(out, secret) {
		t.Errorf("the output has the token:\n%s", out)
	}
	for _, dir := range []string{project, cache} {
		noSecret(t, dir)
	}
}

// writeProgram writes an executable file. It holds the fork lock: a child that is forked
// meanwhile would keep the file open for writing, and a file that is open for writing cannot
// be executed.
func writeProgram(t *testing.T, name, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// noSecret checks that no file in a directory contains the token.
func noSecret(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if strings.Contains(name+string(text), secret) {
			t.Errorf("%s has the token", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
