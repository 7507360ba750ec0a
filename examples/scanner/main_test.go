package main

import (
	"strings"
	"testing"

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
