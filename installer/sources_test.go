package installer_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
)

// A registry can point to a forge's archive, which has a single directory with the commit in its
// name. The location matches this directory with a pattern.
func TestPatternInLocation(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
module "network" {
  source = "MODTEST_HOST/acme/network/aws//modules/zone"
}
-- registry/acme/network/aws/1.0.0/main.tf --
-- archives/forge.tar.gz/acme-network-7c1f791/main.tf --
-- archives/forge.tar.gz/acme-network-7c1f791/modules/zone/main.tf --
-- archives/two.tar.gz/a/main.tf --
-- archives/two.tar.gz/b/main.tf --
`)
	location := func(archive string) {
		p.world.SetFaults(modtest.Fault{
			Path:   "/v1/modules/acme/network/aws/1.0.0/download",
			Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   fmt.Sprintf(`{"location": %q}`, p.world.ArchiveSource(archive, "//*")),
		})
	}
	location("two.tar.gz")
	if err := p.mustFail(t, request{}); !errors.Is(err, installer.ErrNoSubdir) {
		t.Errorf("Install of a pattern that matches twice = %v, want ErrNoSubdir", err)
	}
	location("forge.tar.gz")
	result := p.mustInstall(t, request{})
	if dir := result.Modules[0].Dir; dir != ".terraform/modules/network/acme-network-7c1f791/modules/zone" {
		t.Errorf("the module is in %s", dir)
	}
	if lock := p.file(".terraform.lock.hcl"); !strings.Contains(lock, "forge.tar.gz//acme-network-7c1f791\"") {
		t.Errorf("the lock does not name the directory:\n%s", lock)
	}
	p.remove(t, ".terraform")
	again := p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
	if diff := cmp.Diff(result.Modules[0].Dir, again.Modules[0].Dir); diff != "" {
		t.Errorf("out of the lock (-first +again):\n%s", diff)
	}
}

// The package address in the lock cannot select another directory of a package.
func TestLockDoesNotPoint(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
module "network" {
  source = "MODTEST_HOST/acme/network/aws"
}
-- registry/acme/network/aws/1.0.0/main.tf --
-- registry/acme/network/aws/1.0.0/evil/main.tf --
`)
	p.mustInstall(t, request{})
	p.write(t, ".terraform.lock.hcl", strings.Replace(p.file(".terraform.lock.hcl"), "aws.git?ref", "aws.git//evil?ref", 1))
	p.remove(t, ".terraform")
	if err := p.mustFail(t, request{}); !strings.Contains(err.Error(), `"evil"`) {
		t.Errorf("Install with a lock that names another directory = %v", err)
	}
}

// Without credentials, the error of a private server says so.
func TestPrivateServers(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]error{"MODTEST_HOST/acme/net/aws": registryclient.ErrUnauthorized, "oci://MODTEST_HOST/acme/net?version=~> 1.0": getmodules.ErrAuthentication} {
		p := newProject(t, txtar.Parse([]byte(everyKind)), closed)
		p.call(t, source)
		if err := p.mustFail(t, request{}); !errors.Is(err, want) {
			t.Errorf("Install of %s without credentials = %v, want %v", source, err, want)
		}
	}
}

func TestTreesWithoutEnd(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("-- config/main.tf --\nmodule \"m\" {\n  source = \"./d0\"\n}\n")
	for i := range 101 {
		fmt.Fprintf(&text, "-- config/d%d/main.tf --\nmodule \"m\" {\n  source = \"../d%d\"\n}\n", i, i+1)
	}
	text.WriteString("-- config/d101/main.tf --\n")
	p := world(t, text.String())
	if err := p.mustFail(t, request{}); !errors.Is(err, installer.ErrTooManyModules) {
		t.Errorf("Install of 102 nested calls = %v, want ErrTooManyModules", err)
	}
}

func TestLongKeys(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a", 256)
	p := world(t, "-- config/main.tf --\nmodule \""+name+"\" {\n  source = \"https://MODTEST_HOST/archives/a.zip\"\n}\n-- archives/a.zip/main.tf --\n")
	if err := p.mustFail(t, request{}); !strings.Contains(err.Error(), "longer than 255 bytes") {
		t.Errorf("Install of a call with a name of 256 bytes = %v", err)
	}
}
