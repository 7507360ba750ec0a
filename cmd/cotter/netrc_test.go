package main

import (
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

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
