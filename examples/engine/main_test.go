package main

import (
	"os"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

func TestRun(t *testing.T) {
	world := modtest.NewWith(t, modtest.Txtar(`
-- config/main.tf.json --
{"module": {"app": {"source": "./modules/app"}}}
-- config/modules/app/main.tf.json --
{"module": {"db": {"source": "../db"}, "net": {"source": "registry.example.com/acme/net/aws//main", "version": "~> 1.2"}}}
-- config/modules/db/main.tf.json --
{}
-- registry/acme/net/aws/1.2.0/main/main.tf.json --
{"module": {"inner": {"source": "../inner"}}}
-- registry/acme/net/aws/1.2.0/inner/main.tf.json --
{}
-- registry/acme/net/aws/2.0.0/main/main.tf.json --
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
	for _, want := range []string{`version = "1.2.0"`, `constraints = "~> 1.2"`} { // the set selects, and its text is recorded
		if !strings.Contains(string(lock), want) {
			t.Errorf("the lock has no %s:\n%s", want, lock)
		}
	}
}

// The engine asks for each instance of a call.
func TestInstances(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(`
-- config/main.tf.json --
{}
-- registry/acme/net/aws/1.2.0/main.tf.json --
{}
-- registry/acme/db/aws/1.0.0/main.tf.json --
{}
`))
	dir := world.Dir(t, "config")
	session, err := world.Installer().Begin(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	e := newEngine(session, dir)
	ask := func(name, pkg string) error {
		source, err := addrs.ParseModuleSource(world.Source(pkg))
		if err == nil {
			_, err = e.ModuleConfig(t.Context(), source, versionSet{}, addrs.Module{name})
		}
		return err
	}
	for _, name := range []string{"net", "net", "db"} { // net has two instances
		if err := ask(name, "acme/net/aws"); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask("db", "acme/db/aws"); err == nil || !strings.Contains(err.Error(), "acme/net/aws") || !strings.Contains(err.Error(), "acme/db/aws") {
		t.Errorf("error %v, want one that names both sources", err)
	}
	result, err := session.Commit(t.Context(), installer.CommitOptions{Complete: true})
	if err != nil || len(result.Modules) != 1 || len(result.Unresolved) != 1 {
		t.Errorf("Commit = %+v, %v; want net alone", result, err)
	}
}
