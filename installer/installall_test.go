package installer_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/testenv"
)

func manyProjects(t *testing.T, n int) (*project, []string) {
	t.Helper()
	var text strings.Builder
	text.WriteString(`
-- registry/acme/net/aws/1.2.0/main.tf --
module "names" {
  source = "MODTEST_HOST/acme/names/aws"
}
-- registry/acme/names/aws/1.0.0/main.tf --
-- git/dns.git/v1.0.0/main.tf --
-- providers/acme/cloud/1.0.0/` + addrs.CurrentPlatform().String() + `/terraform-provider-cloud --
1.0.0
`)
	for i := range n {
		fmt.Fprintf(&text, `-- config/p%02d/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 1.0"
}
module "dns" {
  source = "git::https://MODTEST_HOST/git/dns.git?version=1.0.0"
}
terraform {
  required_providers {
    cloud = { source = "MODTEST_HOST/acme/cloud" }
  }
}
`, i)
	}
	p := world(t, text.String())
	dirs, err := repository.Roots(t.Context(), p.installer(), p.dir, repository.RootsOptions{})
	if err != nil || len(dirs) != n {
		t.Fatalf("Roots = %q, %v; want %d", dirs, err, n)
	}
	return p, dirs
}

// A package that several projects use is fetched only once. If one project fails, the others are still
// installed. Events go to the project that they belong to, and no two of them at once.
func TestInstallAll(t *testing.T) {
	t.Parallel()
	both := installer.InstallOptions{Scope: installer.ScopeAll}
	p, dirs := manyProjects(t, 1)
	_, err := p.installer().InstallAll(t.Context(), projects(dirs...), both)
	testenv.Must(t, err)
	want := len(p.world.Requests())
	p, dirs = manyProjects(t, 12)
	p.write(t, "p01/main.tf", "module \"net\" {\n  source = \"MODTEST_HOST/acme/net/aws\"\n  version = \"9.0.0\"\n}\n")
	installed, wantInstalled := map[string]int{}, map[string]int{}
	all := projects(dirs...)
	for i, dir := range dirs {
		all[i].OnEvent = func(ev installer.Event) {
			if _, ok := ev.(event.ModuleInstalled); ok {
				installed[dir]++
			}
		}
	}
	results, err := p.installer().InstallAll(t.Context(), all, both)
	var failed *installer.ProjectError
	if !errors.As(err, &failed) || failed.Dir != dirs[1] || !strings.Contains(err.Error(), "module net (main.tf:3)") {
		t.Errorf("InstallAll = %v, want an error of %s", err, dirs[1])
	}
	if got := len(p.world.Requests()); got != want {
		t.Errorf("12 projects took %d requests, one takes %d", got, want)
	}
	for i, dir := range dirs {
		if i == 1 {
			if results[i] != nil {
				t.Errorf("the result of the project that failed is %+v", results[i])
			}
			continue
		}
		wantInstalled[dir] = 3
		if len(results[i].Modules) != 3 || len(results[i].Providers) != 1 {
			t.Errorf("%s has %d modules and %d providers, want 3 and 1", dir, len(results[i].Modules), len(results[i].Providers))
		}
		report, err := p.installer().Verify(t.Context(), installer.Project{Dir: dir}, installer.VerifyOptions{})
		if err != nil || !report.OK() {
			t.Errorf("Verify(%s) = %+v, %v", dir, report, err)
		}
	}
	if diff := cmp.Diff(wantInstalled, installed); diff != "" {
		t.Errorf("installed modules (-want +got):\n%s", diff)
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
module "a" {
  source = "./modules/a"
}
-- config/modules/a/main.tf --
module "b" {
  source = "../b"
}
-- config/modules/b/main.tf --
-- config/examples/full/main.tf --
module "a" {
  source = "../../modules/a"
}
-- config/broken/main.tf --
module "a" {
-- config/none/README.md --
-- config/provider/providers.tf --
provider "cloud" {}
-- config/modules/c/main.tf --
provider "cloud" {
  region = "none"
}
-- config/examples/c/main.tf --
module "c" {
  source = "../../modules/c"
}
-- config/backend/backend.tf --
terraform {
  backend "s3" {}
}
-- config/cloud/main.tf.json --
{"terraform": {"cloud": {}}}
-- config/locked/main.tf --
resource "cloud_thing" "a" {}
-- config/locked/.terraform.lock.hcl --
-- config/lock/.terraform.lock.hcl --
-- config/shared/main.tf --
terraform {
  required_providers {
    cloud = { source = "acme/cloud" }
  }
}
provider "cloud" {
  alias = "passed"
}
resource "cloud_thing" "a" {}
-- config/.terraform/modules/x/main.tf --
module "x" {
  source = "./x"
}
`)
	dirs, err := repository.Roots(t.Context(), installer.New(installer.Options{}), p.dir, repository.RootsOptions{})
	testenv.Must(t, err)
	var want []string
	for _, root := range []string{"", "backend", "broken", "cloud", "examples/c", "examples/full", "locked", "provider"} {
		want = append(want, filepath.Join(p.dir, root))
	}
	if diff := cmp.Diff(want, dirs); diff != "" {
		t.Errorf("Roots (-want +got):\n%s", diff)
	}
	if _, err := repository.Roots(t.Context(), installer.New(installer.Options{}), filepath.Join(p.dir, "gone"), repository.RootsOptions{}); err == nil {
		t.Error("Roots of a directory that is not there = nil, want an error")
	}
}
