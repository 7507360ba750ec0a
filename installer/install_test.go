package installer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

// nested is a world with every kind of nesting: a registry module that calls another one, a git
// module with a subdirectory, and a local module that calls a registry module.
const nested = `
-- config/main.tf --
module "network" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = "~> 1.0"
}

module "app" {
  source = "./app"
}

module "dns" {
  source = "git::https://MODTEST_HOST/git/infra.git//modules/dns?ref=v1.0.0"
}
-- config/app/main.tf --
module "network" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = "1.0.0"
}
-- registry/acme/network/aws/1.0.0/main.tf --
module "subnets" {
  source  = "MODTEST_HOST/acme/subnets/aws"
  version = "~> 0.3"
}
-- registry/acme/network/aws/1.0.0/README.md --
A network.
-- registry/acme/subnets/aws/0.3.0/main.tf --
output "ids" {
  value = []
}
-- git/infra.git/v1.0.0/modules/dns/main.tf --
module "zone" {
  source = "../zone"
}
-- git/infra.git/v1.0.0/modules/zone/main.tf --
output "zone" {
  value = "z"
}
`

func (p *project) mustInstall(t *testing.T, req request) *installer.Result {
	t.Helper()
	req.Dir = p.dir
	result, err := p.installer().Install(context.Background(), req.Project, req.InstallOptions)
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	return result
}

// mustFail installs, expects an error, and checks that neither the lock nor the
// modules changed.
func (p *project) mustFail(t *testing.T, req request) error {
	t.Helper()
	before := snapshot(t, p.dir)
	req.Dir = p.dir
	_, err := p.installer().Install(context.Background(), req.Project, req.InstallOptions)
	if err == nil {
		t.Fatal("Install succeeded, want an error")
	}
	if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
		t.Errorf("a failed Install changed the project (-before +after):\n%s", diff)
	}
	return err
}

func TestInstallTwiceAsksNobody(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	before := snapshot(t, p.dir)
	p.world.ResetRequests()
	p.mustInstall(t, request{})
	p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
	if requests := p.world.Requests(); len(requests) > 0 {
		t.Errorf("a second Install made %d requests, want none: %v", len(requests), requests)
	}
	if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
		t.Errorf("a second Install changed the project (-first +second):\n%s", diff)
	}
}

func TestInstallFromLockAndCache(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir = t.TempDir() })
	install := func() {
		t.Helper()
		if _, err := in.Install(context.Background(), installer.Project{Dir: p.dir}, installer.InstallOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	install()
	before := snapshot(t, p.dir)
	if err := os.RemoveAll(filepath.Join(p.dir, ".terraform")); err != nil {
		t.Fatal(err)
	}
	p.world.ResetRequests()
	install()
	if requests := p.world.Requests(); len(requests) > 0 {
		t.Errorf("Install with a lock and a warm cache made requests: %v", requests)
	}
	if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
		t.Errorf("Install out of the cache differs (-first +second):\n%s", diff)
	}
}

func TestInstallIsSticky(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	p.publish(t, "acme/network/aws", "1.5.0")
	if v := version(p.mustInstall(t, request{}), "network"); v != "1.0.0" {
		t.Errorf("after a new release Install took %s, want the locked 1.0.0", v)
	}
	p.write(t, "main.tf", `module "network" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = ">= 1.1"
}
`)
	err := p.mustFail(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
	var locked *installer.LockedError
	if !errors.As(err, &locked) || locked.Reasons[0].Path.String() != "network" {
		t.Errorf("Install with Locked and a stale entry = %v, want *LockedError about network", err)
	}
	if v := version(p.mustInstall(t, request{}), "network"); v != "1.5.0" {
		t.Errorf("after the constraint changed Install took %s, want 1.5.0", v)
	}
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	p.publish(t, "acme/network/aws", "1.5.0")
	result := p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}})
	if v := version(result, "network"); v != "1.5.0" {
		t.Errorf("Install with Upgrade took %s, want 1.5.0", v)
	}
	if v := version(result, "app.network"); v != "1.0.0" {
		t.Errorf("Install with Upgrade took %s for app.network, want 1.0.0, which is pinned", v)
	}
	if _, err := os.Stat(filepath.Join(p.dir, ".terraform/modules/network.subnets")); !os.IsNotExist(err) {
		t.Errorf("the directory of a call that is gone: %v, want it removed", err)
	}
}

func version(result *installer.Result, key string) string {
	for _, m := range result.Modules {
		if m.Path.String() == key {
			return m.Version.String()
		}
	}
	return ""
}

func TestChangedBytesAreRefused(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
module "net" {
  source = "https://MODTEST_HOST/archives/net.zip"
}
-- archives/net.zip/main.tf --
-- archives/net.zip/README.md --
`)
	p.mustInstall(t, request{})
	if err := p.world.PublishArchive("net.zip", modtest.Txtar("-- main.tf --\n# evil\n")); err != nil {
		t.Fatal(err)
	}
	p.remove(t, ".terraform/modules/net")
	err := p.mustFail(t, request{})
	var mismatch *installer.HashMismatchError
	if !errors.As(err, &mismatch) {
		t.Fatalf("Install of changed bytes = %v, want *HashMismatchError", err)
	}
	got := [][]string{mismatch.Changes.Changed, mismatch.Changes.Vanished}
	if diff := cmp.Diff([][]string{{"main.tf"}, {"README.md"}}, got); diff != "" {
		t.Errorf("changed and vanished files (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(err.Error(), "module net (main.tf:2): Module checksum verification failed") {
		t.Errorf("message = %q", err)
	}
}

func (p *project) publish(t *testing.T, pkg, version string) {
	t.Helper()
	if err := p.world.PublishVersion(pkg, version, modtest.Txtar("-- main.tf --\n")); err != nil {
		t.Fatal(err)
	}
}

func (p *project) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

func TestInstalledFilesThatChangedAreReplaced(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	before := snapshot(t, p.dir)
	p.write(t, ".terraform/modules/network/main.tf", "# edited\n")
	p.write(t, ".terraform/modules/network/evil.tf", "# added\n")
	if err := os.Remove(filepath.Join(p.dir, ".terraform/modules/network/README.md")); err != nil {
		t.Fatal(err)
	}
	report, err := p.installer().Verify(context.Background(), installer.Project{Dir: p.dir}, installer.VerifyOptions{})
	if err != nil || report.OK() {
		t.Fatalf("Verify = %+v, %v; want a report that is not OK", report, err)
	}
	i := slices.IndexFunc(report.Packages, func(r installer.PackageReport) bool { return r.Path.String() == "network" })
	got := report.Packages[i].Changes
	want := [][]string{{"main.tf"}, {"README.md"}, {"evil.tf"}}
	if diff := cmp.Diff(want, [][]string{got.Changed, got.Vanished, got.Added}); diff != "" {
		t.Errorf("changed, vanished and added files (-want +got):\n%s", diff)
	}
	p.mustInstall(t, request{})
	if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
		t.Errorf("Install did not put the files right (-want +got):\n%s", diff)
	}
}

func TestFailureKeepsEverything(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	p.write(t, "more.tf", `module "none" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = "~> 7.0"
}
`)
	err := p.mustFail(t, request{})
	var noMatch *versions.NoMatchError
	var module *installer.ModuleError
	if !errors.As(err, &noMatch) || !errors.As(err, &module) || module.Range.Filename != "more.tf" || module.Range.Start.Line != 3 {
		t.Errorf("Install = %v, want *ModuleError at more.tf:3 over *versions.NoMatchError", err)
	}
}

func TestManyInstallersOneProject(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	cache := t.TempDir()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			in := with(p.installer(), func(o *installer.Options) { o.CacheDir = cache })
			if _, err := in.Install(context.Background(), installer.Project{Dir: p.dir}, installer.InstallOptions{}); err != nil {
				t.Errorf("Install: %v", err)
			}
		})
	}
	wait.Wait()
	p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
}
