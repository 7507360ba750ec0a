package library_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/modtest"
)

// TestSamples runs the samples that need no servers other than a world's.
func TestSamples(t *testing.T) {
	world := modtest.NewWith(t, modtest.Txtar(`
-- infra/main.tf --
module "net" {
  source = "registry.example.com/acme/net/aws"
}
-- registry/acme/net/aws/1.2.0/main.tf --
-- local/main.tf --
module "app" {
  source = "./app"
}
-- local/app/main.tf --
`), modtest.Options{Archives: true})
	dir := t.TempDir()
	t.Chdir(dir)
	for name, value := range map[string]string{"HOME": dir, "TF_CLI_CONFIG_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()

	check(world.WriteTree("infra", "local"))
	check(installTree(ctx, filepath.Join(dir, "cache"), filepath.Join(dir, "state")))
	check(os.RemoveAll("infra"))

	check(world.WriteTree("infra", "infra"))
	in := world.Installer()
	var count atomic.Int64
	in.Fetcher = counting{in.Fetcher, &count}
	check(dryRun(ctx, in))
	check(providers(ctx, in))
	check(several(ctx, in))
	check(lockEntries("infra"))
	check(verify(ctx, "infra"))
	if count.Load() == 0 {
		t.Error("the wrapped fetcher fetched nothing")
	}

	check(os.WriteFile("infra/.terraform/modules/net/main.tf", []byte("# changed\n"), 0o600))
	if err := verify(ctx, "infra"); err == nil {
		t.Error("a changed module was not found")
	}
	check(os.WriteFile("infra/main.tf", []byte("module \"net\" {\n  source = \"registry.example.com/acme/gone/aws\"\n}\n"), 0o600))
	_, err := in.Install(ctx, cotter.Request{Dir: "infra"})
	if err == nil {
		t.Fatal("a module that does not exist was installed")
	}
	explain(err)

	client := world.HTTPClient()
	if _, err := userCredentials(ctx, client); err != nil {
		t.Error(err)
	}
	for _, in := range []*cotter.Installer{gitToken(client, "s3cret"), clouds(client), replaced(client)} {
		if _, err := in.Load(ctx, cotter.Request{Dir: "infra", BestEffort: true}); err != nil {
			t.Error(err)
		}
	}
}
