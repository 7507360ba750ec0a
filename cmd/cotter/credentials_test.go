package main

import (
	"encoding/base64"
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
	env := append(world.Env(), "HOME="+home, "PATH="+os.Getenv("PATH"), "CI=1", "COTTER_CACHE_DIR="+cache)
	for _, entry := range u.env {
		env = append(env, expand(entry))
	}
	out, err := warm.run(project, env, append([]string{"install", "--locked=false", format}, u.args...)...)
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

const privateRepository = `
-- config/main.tf --
module "net" {
  source = "oci://MODTEST_HOST/team/net?version=~> 1.0"
}
-- oci/team%2Fnet/1.0.0/main.tf --
output "x" { value = 1 }
`

// ociUsers returns users with credentials for an OCI registry in each place where stock
// tools look for them.
func ociUsers() []user {
	const (
		block  = "oci_credentials \"HOST/team\" {\n  username = \"robot\"\n  password = \"" + secret + "\"\n}\n"
		helper = "#!/bin/sh\nread host\n[ \"$1 $host\" = 'get https://HOST' ] && echo '{\"ServerURL\": \"HOST\", \"Username\": \"robot\", \"Secret\": \"" + secret + "\"}'\n"
		asks   = "oci_credentials \"HOST\" {\n  docker_credentials_helper = \"test\"\n}\n"
	)
	path := "PATH=HOME/bin:" + os.Getenv("PATH")
	docker := `{"auths": {"HOST": {"auth": "` + base64.StdEncoding.EncodeToString([]byte("robot:"+secret)) + `"}}}`
	return []user{
		{name: "block", files: map[string]string{".tofurc": block}},
		{name: "docker's file", files: map[string]string{".docker/config.json": docker}},
		{name: "docker's helper", files: map[string]string{
			".docker/config.json": `{"credHelpers": {"HOST": "test"}}`, "bin/docker-credential-test": helper}, env: []string{path}},
		{name: "block with a helper", files: map[string]string{".tofurc": asks, "bin/docker-credential-test": helper}, env: []string{path}},
		{name: "default helper", files: map[string]string{
			".tofurc":                    "oci_default_credentials {\n  docker_credentials_helper = \"test\"\n}\n",
			"bin/docker-credential-test": helper}, env: []string{path}},

		{name: "nothing", fails: "none are known"},
		{name: "not docker's file", files: map[string]string{
			".tofurc":             "oci_default_credentials {\n  discover_ambient_credentials = false\n}\n",
			".docker/config.json": docker}, fails: "none are known"},
		{name: "wrong password", files: map[string]string{
			".tofurc": "oci_credentials \"HOST\" {\n  username = \"robot\"\n  password = \"" + secret + "-wrong\"\n}\n"}, fails: "401"},
		{name: "no helper", files: map[string]string{".tofurc": asks}, fails: "docker-credential-test"},
		{name: "broken helper", files: map[string]string{
			".tofurc":                    asks,
			"bin/docker-credential-test": "#!/bin/sh\necho " + secret + " >&2\nexit 7\n"}, env: []string{path}, fails: "exit status 7"},
	}
}

// TestOCICredentials installs with a password in each of its possible places. The password
// must not appear in the output or in a file.
func TestOCICredentials(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("/bin/sh is not installed")
	}
	world := modtest.NewWith(t, modtest.Txtar(privateRepository), modtest.Options{OCIUser: "robot", OCIPassword: secret})
	for _, u := range ociUsers() {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			u.install(t, world, "--json")
		})
	}
}

const privateArchive = `
-- config/main.tf --
module "net" {
  source = "https://MODTEST_HOST/archives/net.zip"
}
-- archives/net.zip/main.tf --
output "x" { value = 1 }
`

// TestNetrc installs with a netrc file in each of its possible places. The password must not
// appear in the output or in a file.
func TestNetrc(t *testing.T) {
	t.Parallel()
	const file = "machine HOST\n  login robot\n  password " + secret + "\n"
	world := modtest.NewWith(t, modtest.Txtar(privateArchive), modtest.Options{ArchiveUser: "robot", ArchivePassword: secret})
	for _, u := range []user{
		{name: "file", files: map[string]string{".netrc": file}},
		{name: "variable", files: map[string]string{"own": file}, env: []string{"NETRC=HOME/own"}},
		{name: "nothing", fails: "401"},
		{name: "other file", files: map[string]string{".netrc": file}, env: []string{"NETRC=HOME/none"}, fails: "401"},
		{name: "other host", files: map[string]string{".netrc": "machine example.com login robot password " + secret}, fails: "401"},
		{name: "other port", files: map[string]string{".netrc": "machine 127.0.0.1 login robot password " + secret}, fails: "401"},
		{name: "default", files: map[string]string{".netrc": "default login robot password " + secret}, fails: "401"},
		{name: "wrong password", files: map[string]string{".netrc": "machine HOST login robot password " + secret + "-wrong"}, fails: "401"},
		{name: "no file", env: []string{"NETRC=/dev/null"}, fails: "401"},
		{name: "no home", env: []string{"HOME=/dev/null"}, fails: "401"},
		{name: "directory", env: []string{"NETRC=HOME"}, fails: "credentials for http"},
	} {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			u.install(t, world, "--json")
		})
	}
}
