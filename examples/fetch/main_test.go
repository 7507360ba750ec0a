package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(`
-- registry/acme/network/aws/1.2.3/main.tf --
-- registry/acme/network/aws/1.2.3/modules/tags/main.tf --
`))
	dir := filepath.Join(t.TempDir(), "network")
	var out strings.Builder
	if err := fetch(t.Context(), world.Installer(), &out, world.Source("acme/network/aws")+"//modules/tags", dir); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "modules", "tags") + " 1.2.3 git::https://"
	if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "[h1:") {
		t.Errorf("fetch printed %q, want %q and more", &out, want)
	}
}
