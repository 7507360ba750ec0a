package unittest

import (
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

func TestNewestAllowedVersion(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(`
-- config/main.tf --
module "network" {
  source  = "registry.example.com/acme/network/aws"
  version = "~> 1.2"
}
-- registry/acme/network/aws/1.2.0/main.tf --
-- registry/acme/network/aws/1.9.1/main.tf --
-- registry/acme/network/aws/2.0.0/main.tf --
`), modtest.Options{Archives: true})
	dir, in := world.Dir(t, "config"), world.Installer()

	result, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Modules[0].Version.String(); got != "1.9.1" {
		t.Errorf("installed version %s, want 1.9.1", got)
	}
	world.ResetRequests()
	if _, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Locked: true}); err != nil {
		t.Fatal(err)
	}
	if requests := world.Requests(); len(requests) > 0 {
		t.Errorf("a second install asked for %v", requests)
	}
}
