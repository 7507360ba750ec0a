package main

import (
	"os"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

func TestRun(t *testing.T) {
	world := modtest.NewWith(t, modtest.Txtar(`
-- config/main.tf.json --
{"module": {"app": {"source": "./modules/app"}}}
-- config/modules/app/main.tf.json --
{"module": {"db": {"source": "../db"}, "net": {"source": "registry.example.com/acme/net/aws//main"}}}
-- config/modules/db/main.tf.json --
{}
-- registry/acme/net/aws/1.2.0/main/main.tf.json --
{"module": {"inner": {"source": "../inner"}}}
-- registry/acme/net/aws/1.2.0/inner/main.tf.json --
{}
`), modtest.Options{Archives: true})
	dir, home := world.Dir(t, "config"), t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CACHE_HOME": home, "XDG_STATE_HOME": home, "TF_CLI_CONFIG_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	var out strings.Builder
	if err := run(t.Context(), world.HTTPClient(), &out, dir); err != nil {
		t.Fatal(err)
	}
	const want = `"" is in .
"app" is in modules/app
"app.db" is in modules/db
"app.net" is in .terraform/modules/app.net/main
"app.net.inner" is in .terraform/modules/app.net/inner
`
	if out.String() != want {
		t.Errorf("the program printed\n%swant\n%s", &out, want)
	}
	lock, err := os.ReadFile(dir + "/.terraform.lock.hcl")
	if err != nil || strings.Count(string(lock), "module \"") != 1 {
		t.Errorf("want one entry in the lock, got %v\n%s", err, lock)
	}
}
