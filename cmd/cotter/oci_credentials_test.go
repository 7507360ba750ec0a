package main

import (
	"encoding/base64"
	"os"
	"runtime"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

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
