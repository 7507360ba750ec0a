package main

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // Windows names certificates by it
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// TestWine runs the main flows of the command that is compiled for Windows, in wine. .ci/windows
// compiles it, and sets the variable.
func TestWine(t *testing.T) {
	program := os.Getenv("COTTER_TEST_WINE")
	if program == "" {
		t.Skip("COTTER_TEST_WINE is not set")
	}
	world := modtest.NewWith(t, modtest.Txtar(wineWorld), modtest.Options{Archives: true})
	w := wine{t: t, program: program, world: world, home: t.TempDir()}
	w.trustWorld()
	project := w.project("config")

	w.run(0, project, "install", "--verbose")
	for _, name := range []string{".terraform/modules/net/main.tf", ".terraform/modules/git/main.tf", ".terraform/modules/archive/main.tf", ".terraform/modules/oci/main.tf", ".terraform/modules/modules.json", ".terraform.lock.hcl"} {
		if _, err := os.Stat(filepath.Join(project, name)); err != nil {
			t.Error(err)
		}
	}
	w.run(0, project, "verify")
	if out := w.run(0, project, "install", "--locked", "--offline"); !strings.Contains(out, "up to date") {
		t.Error("the second install does not say that everything is up to date")
	}
	w.run(0, project, "tree")

	// Files that a person or another program changed.
	w.replace(filepath.Join(project, ".terraform/modules/net/main.tf"), "net", "other")
	w.run(1, project, "verify")
	w.run(0, project, "install")
	w.run(0, project, "verify")

	// A lock with CRLF stays one.
	lock := filepath.Join(project, ".terraform.lock.hcl")
	w.replace(lock, "\n", "\r\n")
	testenv.Must(t, world.PublishVersion("acme/net/aws", "1.3.0", modtest.Txtar("-- main.tf --\noutput \"id\" { value = \"newer\" }\n")))
	w.run(0, project, "outdated")
	w.run(0, project, "update", "net")
	if content, err := os.ReadFile(lock); err != nil || !bytes.Contains(content, []byte("\"1.3.0\"\r\n")) || bytes.Count(content, []byte("\n")) != bytes.Count(content, []byte("\r\n")) {
		t.Errorf("the lock after an update: %v\n%q", err, content)
	}
	w.run(0, project, "verify")

	// A new checkout, without and with the cache.
	for _, cached := range []bool{true, false} {
		testenv.Must(t, os.RemoveAll(filepath.Join(project, ".terraform")))
		if !cached {
			w.run(0, project, "cache", "clean", "--all")
		}
		w.run(0, project, "install", "--locked")
		w.run(0, project, "verify")
	}
	w.run(0, project, "bundle", "create", "--out", "packages.cotter")
	w.run(0, project, "doctor")

	// Names that Windows does not allow.
	for name, want := range map[string]string{"port": `"registry.example.com:8443" holds one of`, "names": `"a:b.tf": the name holds one of`} {
		if out := w.run(1, w.project(name), "install"); !strings.Contains(out, want) {
			t.Errorf("%s: the output does not have %q", name, want)
		}
	}
}

const wineWorld = `
-- registry/acme/net/aws/1.2.0/main.tf --
output "id" { value = "net" }
-- git/net.git/v1.0.0/main.tf --
output "id" { value = "git" }
-- archives/net.zip/main.tf --
output "id" { value = "archive" }
-- oci/net/1.0.0/main.tf --
output "id" { value = "oci" }
-- providers/acme/cloud/1.0.0/windows_amd64/terraform-provider-cloud_v1.0.0.exe --
not a program
-- archives/names.zip/a:b.tf --
output "id" { value = "names" }
-- names/main.tf --
module "names" {
  source = "https://MODTEST_HOST/archives/names.zip"
}
-- port/main.tf --
terraform {
  required_providers {
    cloud = { source = "registry.example.com:8443/acme/cloud" }
  }
}
-- config/main.tf --
module "net" {
  source  = "registry.example.com/acme/net/aws"
  version = "~> 1.2"
}
module "git" {
  source = "git::https://MODTEST_HOST/git/net.git?ref=v1.0.0"
}
module "archive" {
  source = "https://MODTEST_HOST/archives/net.zip"
}
module "oci" {
  source = "oci://MODTEST_HOST/net?tag=1.0.0"
}
module "local" {
  source = "./local"
}
-- config/local/main.tf --
terraform {
  required_providers {
    cloud = { source = "registry.example.com/acme/cloud" }
  }
}
`

// wine runs the command for a user who has no git and an empty home directory.
type wine struct {
	t       *testing.T
	program string
	world   *modtest.World
	home    string
}

// run runs the command in a directory, which must exit with a status, and returns its output.
func (w wine) run(status int, dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "wine", append([]string{w.program}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"TF_CLI_CONFIG_FILE="+windowsPath(filepath.Join(w.home, "cli.tfrc")),
		"COTTER_CACHE_DIR="+windowsPath(filepath.Join(w.home, "cache")),
		"COTTER_STATE_DIR="+windowsPath(filepath.Join(w.home, "state")),
		"SSL_CERT_FILE=none", "NO_COLOR=1", "CI=", "CHECKPOINT_DISABLE=1")
	out, err := cmd.CombinedOutput()
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got, err = exit.ExitCode(), nil
	}
	testenv.Must(w.t, err)
	text := strings.ReplaceAll(string(out), "\r\n", "\n")
	w.t.Logf("cotter %s: %d\n%s", strings.Join(args, " "), got, text)
	if got != status {
		w.t.Fatalf("cotter %s = %d, want %d", strings.Join(args, " "), got, status)
	}
	return text
}

func (w wine) replace(file, old, text string) {
	w.t.Helper()
	content, err := os.ReadFile(file)
	testenv.Must(w.t, err)
	testenv.Must(w.t, os.WriteFile(file, []byte(strings.ReplaceAll(string(content), old, text)), 0o600))
}

// project writes a directory of the world's tree, with settings in which registry.example.com
// is the world. Wine does not check certificates of addresses such as 127.0.0.1.
func (w wine) project(name string) string {
	w.t.Helper()
	dir := w.world.Dir(w.t, name)
	w.replace(filepath.Join(dir, "main.tf"), "127.0.0.1:", "localhost:")
	url := strings.Replace(w.world.URL(), "127.0.0.1:", "localhost:", 1)
	var settings strings.Builder
	for _, host := range []string{"registry.example.com", "registry.example.com:8443"} {
		fmt.Fprintf(&settings, "host %q {\n  services = {\n    \"providers.v1\" = %q\n    \"modules.v1\" = %q\n  }\n}\n", host, url+"/v1/providers/", url+"/v1/modules/")
	}
	testenv.Must(w.t, os.WriteFile(filepath.Join(w.home, "cli.tfrc"), []byte(settings.String()), 0o600))
	return dir
}

// trustWorld adds the world's certificate to the root certificates of wine's registry.
func (w wine) trustWorld() {
	w.t.Helper()
	var file string
	for _, entry := range w.world.Env() {
		if name, ok := strings.CutPrefix(entry, "SSL_CERT_FILE="); ok {
			file = name
		}
	}
	text, err := os.ReadFile(file)
	testenv.Must(w.t, err)
	block, _ := pem.Decode(text)
	// A certificate in the registry is a list of properties: number, 1, length, value.
	const encoded = 32 // CERT_CERT_PROP_ID
	var blob bytes.Buffer
	for _, number := range []int{encoded, 1, len(block.Bytes)} {
		blob.Write(binary.LittleEndian.AppendUint32(nil, uint32(number))) //nolint:gosec // small
	}
	blob.Write(block.Bytes)
	key := fmt.Sprintf(`HKLM\Software\Microsoft\SystemCertificates\Root\Certificates\%X`, sha1.Sum(block.Bytes)) //nolint:gosec // a name
	add := exec.CommandContext(w.t.Context(), "wine", "reg", "add", key, "/v", "Blob", "/t", "REG_BINARY", "/d", hex.EncodeToString(blob.Bytes()), "/f")
	if out, err := add.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %v\n%s", slices.Clip(add.Args), err, out)
	}
}

// windowsPath returns the path by which programs in wine reach a file of this system.
func windowsPath(name string) string { return "Z:" + strings.ReplaceAll(name, "/", `\`) }
