package main

import (
	"os"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

func TestRun(t *testing.T) {
	world := modtest.NewWith(t, modtest.Txtar(`
-- config/main.tf --
module "net" {
  source = "registry.example.com/acme/net/aws"
}
-- registry/acme/net/aws/1.2.0/main.tf --
`), modtest.Options{Archives: true})
	dir := world.Dir(t, "config")
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CACHE_HOME": home, "XDG_STATE_HOME": home, "TF_CLI_CONFIG_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	stock, err := os.Executable() // stands for a stock tool: it lists this test
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), world.HTTPClient(), &out, dir, stock, "-test.list=TestRun"); err != nil {
		t.Fatal(err)
	}
	const want = `fetched "https://registry.example.com/packages/acme/net/aws/1.2.0.tar.gz"`
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("the program printed %q, want %q and more", &out, want)
	}
	if !strings.HasSuffix(out.String(), "TestRun\n") {
		t.Errorf("the command did not run: %q", &out)
	}
	if _, err := os.Stat(dir + "/.terraform/modules/net/main.tf"); err != nil {
		t.Error(err)
	}
}
