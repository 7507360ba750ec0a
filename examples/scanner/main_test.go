package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

func TestScan(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(`
-- config/main.tf --
module "app" {
  source = "./app"
}
-- config/app/main.tf --
module "network" {
  source = "git::https://MODTEST_HOST/git/network.git?ref=main"
}
`))
	var out strings.Builder
	if err := scan(t.Context(), &out, world.Dir(t, "config")); err != nil {
		t.Fatal(err)
	}
	want := `module "" in .: 1 files
module "app" in app: 1 files
not scanned: module app.network (app/main.tf:2): `
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("scan printed %q, want %q and more", &out, want)
	}
}

func TestScanUnlocked(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(`
-- config/main.tf --
module "network" {
  source = "git::https://MODTEST_HOST/git/network.git?ref=v1.0.0"
}
-- git/network.git/v1.0.0/main.tf --
module "tags" {
  source = "./tags"
}
-- git/network.git/v1.0.0/tags/main.tf --
`))
	dir := world.Dir(t, "config")
	if _, err := world.Installer().Install(t.Context(), installer.Project{Dir: dir, NoLock: true}, installer.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := scan(t.Context(), &out, dir); err != nil {
		t.Fatal(err)
	}
	want := `module "" in .: 1 files
module "network" in .terraform/modules/network: 1 files
main.tf:1,1-17: module network is not locked
module "network.tags" in .terraform/modules/network/tags: 1 files
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("scan printed (-want +got):\n%s", diff)
	}
}
