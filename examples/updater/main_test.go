package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(`
-- config/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 1.0"
}
module "dns" {
  source = "git::https://MODTEST_HOST/git/dns.git?ref=v1.0.0"
}
-- registry/acme/net/aws/1.2.0/main.tf --
-- git/dns.git/v1.0.0/main.tf --
`))
	dir, in := world.Dir(t, "config"), world.Installer()
	if _, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := world.PublishVersion("acme/net/aws", "1.3.0", modtest.Txtar("-- main.tf --\nvariable \"id\" {}\n")); err != nil {
		t.Fatal(err)
	}
	if err := world.PublishTag("dns.git", "v1.1.0", modtest.Txtar("-- main.tf --\n# new\n")); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := update(t.Context(), in, &out, dir); err != nil {
		t.Fatal(err)
	}
	want := []string{"- dns: git::https://", "- net: 1.2.0 -> 1.3.0", "  - breaks main.tf:1,1-13: variable \"id\" added"}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if !slices.EqualFunc(lines, want, strings.HasPrefix) {
		t.Errorf("update printed %q, want the beginnings %q", lines, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "?ref=v1.1.0") {
		t.Errorf("the configuration is\n%s", text)
	}
}
