package installer_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

func (p *project) lockOf(t *testing.T) *lockfile.File {
	t.Helper()
	lock, err := installer.ReadLock(t.Context(), installer.Project{Dir: p.dir})
	testenv.Must(t, err)
	return lock
}

// interfaceWorld is a project in which version 1.3.0 of a module breaks two calls: the project's
// call of that module, and a call inside the module's own package.
const interfaceWorld = `
-- config/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws//modules/vpc"
  version = "1.2.0"
  zone    = "a"
}
output "id" {
  value = module.net.id
}
-- registry/acme/net/aws/1.2.0/modules/vpc/main.tf --
variable "zone" {}
output "id" {
  value = 1
}
module "names" {
  source = "git::https://MODTEST_HOST/git/names.git?ref=v1.0.0"
}
-- registry/acme/net/aws/1.3.0/modules/vpc/main.tf --
module "names" {
  source = "git::https://MODTEST_HOST/git/names.git?ref=v1.1.0"
  prefix = "x"
}
-- git/names.git/v1.0.0/main.tf --
variable "prefix" {
  default = ""
}
-- git/names.git/v1.1.0/main.tf --
variable "suffix" {}
`

// DiffInterfaces reports how other versions affect calls in the configuration and calls in
// packages.
func TestDiffInterfaces(t *testing.T) {
	t.Parallel()
	p := world(t, interfaceWorld)
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir = t.TempDir() })
	mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{})
	old, stores := p.lockOf(t), []installer.PackageStore{bundleOf(t, in, p)}
	p.useNewer(t)
	mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{Update: installer.Update{All: true}})
	updated, stores := p.lockOf(t), append(stores, bundleOf(t, in, p))
	empty := with(in, func(o *installer.Options) { o.CacheDir = t.TempDir() })
	for name, test := range map[string]struct {
		in  *installer.Installer
		req request
	}{
		"from the cache": {in, request{Project: installer.Project{Dir: p.dir}, InstallOptions: installer.InstallOptions{Offline: true}}},
		"fetched":        {empty, request{Project: installer.Project{Dir: p.dir, DataDir: ".elsewhere"}}},
		"from bundles": {
			with(in, func(o *installer.Options) { o.CacheDir, o.Stores = t.TempDir(), stores }),
			request{Project: installer.Project{Dir: p.dir, DataDir: ".elsewhere"}, InstallOptions: installer.InstallOptions{Offline: true}},
		},
	} {
		diffs, err := installerinternal.DiffInterfaces(t.Context(), test.in, test.req.Project, test.req.Offline, old, updated)
		testenv.Must(t, err)
		var got []string
		for _, d := range diffs {
			for _, c := range d.Changes {
				got = append(got, d.Path.String()+": "+c.String())
			}
			if d.Err != nil {
				t.Errorf("%s: %s: %v", name, d.Path, d.Err)
			}
		}
		want := []string{
			`net: variable "zone" removed, which main.tf:4 sets`,
			`net: output "id" removed, which main.tf:7 uses`,
		}
		if diff := cmp.Diff(want, got[:min(2, len(got))]); diff != "" {
			t.Errorf("%s: changes (-want +got):\n%s", name, diff)
		}
		dir := filepath.ToSlash(filepath.Join(test.req.DataDir, "modules/net/modules/vpc/main.tf"))
		if test.req.DataDir == "" {
			dir = ".terraform/modules/net/modules/vpc/main.tf"
		}
		want = []string{
			`net.names: variable "prefix" removed, which ` + dir + `:3 sets`,
			`net.names: variable "suffix" added: required any, which ` + dir + `:1 does not set`,
		}
		if diff := cmp.Diff(want, got[min(2, len(got)):]); diff != "" {
			t.Errorf("%s: changes of the nested call (-want +got):\n%s", name, diff)
		}
	}
	empty = with(empty, func(o *installer.Options) { o.CacheDir = t.TempDir() })
	checkNotAtHand(t, empty, old, updated)
	if diffs, err := installerinternal.DiffInterfaces(t.Context(), empty, installer.Project{Dir: p.dir}, false, updated, updated); diffs != nil || err != nil {
		t.Errorf("DiffInterfaces of the same lock = %v, %v", diffs, err)
	}
}

// checkNotAtHand checks the errors for packages that are neither installed nor cached when the
// request is offline.
func checkNotAtHand(t *testing.T, in *installer.Installer, old, updated *lockfile.File) {
	t.Helper()
	diffs, err := installerinternal.DiffInterfaces(t.Context(), in, installer.Project{Dir: t.TempDir()}, true, old, updated)
	if err != nil || len(diffs) != 2 {
		t.Fatalf("DiffInterfaces = %v, %v, want two", diffs, err)
	}
	for _, d := range diffs {
		if !errors.Is(d.Err, installer.ErrOffline) {
			t.Errorf("%s without a cache: %v, want ErrOffline", d.Path, d.Err)
		}
	}
}
