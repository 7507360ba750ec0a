package library_test

import (
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

// TestInstallSample runs the sample of the README, which needs no servers.
func TestInstallSample(t *testing.T) {
	world := modtest.New(t, modtest.Txtar("-- infra/main.tf --\nmodule \"app\" {\n  source = \"./app\"\n}\n-- infra/app/main.tf --\n"))
	dir := t.TempDir()
	t.Chdir(dir)
	if err := world.WriteTree("infra", "infra"); err != nil {
		t.Fatal(err)
	}
	if err := installTree(t.Context(), filepath.Join(dir, "cache"), filepath.Join(dir, "state")); err != nil {
		t.Fatal(err)
	}
}
