package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/modtest"
)

func TestLock(t *testing.T) {
	world := modtest.NewWith(t, modtest.Txtar(`
-- registry/acme/net/aws/1.2.0/main.tf --
module "inner" {
  source = "./inner"
}
-- registry/acme/net/aws/1.2.0/inner/main.tf --
`), modtest.Options{Archives: true})
	home, unit := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CACHE_HOME": home, "XDG_STATE_HOME": home, "TF_CLI_CONFIG_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	get := func() string {
		t.Helper()
		dir, err := lock(t.Context(), world.HTTPClient(), unit, "registry.example.com/acme/net/aws", "~> 1.0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(unit + "/" + dir + "/inner/main.tf"); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(unit + "/.terraform.lock.hcl")
		if err != nil || !strings.Contains(string(text), `version = "1.2.0"`) {
			t.Errorf("the lock does not have the version: %v\n%s", err, text)
		}
		return string(text)
	}
	first := get()
	if err := world.PublishVersion("acme/net/aws", "1.3.0", fstest.MapFS{"main.tf": {}}); err != nil {
		t.Fatal(err)
	}
	if again := get(); again != first {
		t.Errorf("the lock has changed:\n%s", again)
	}
}
