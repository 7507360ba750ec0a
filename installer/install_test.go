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
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
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
	return mustInstall(t, p.installer(), req.Project, req.InstallOptions)
}

// mustFail installs, expects an error, and checks that neither the lock nor the modules changed, and
// that a first run has left nothing.
func (p *project) mustFail(t *testing.T, req request) error {
	t.Helper()
	before, hadData := snapshot(t, p.dir), exists(filepath.Join(p.dir, ".terraform"))
	req.Dir = p.dir
	_, err := p.installer().Install(t.Context(), req.Project, req.InstallOptions)
	if err == nil {
		t.Fatal("Install succeeded, want an error")
	}
	if !hadData && exists(filepath.Join(p.dir, ".terraform")) {
		t.Error("a failed Install left .terraform behind")
	}
	if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
		t.Errorf("a failed Install changed the project (-before +after):\n%s", diff)
	}
	return err
}

// A run sends no requests if everything is installed, or in the cache.
func TestNothingToFetch(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir = t.TempDir() })
	mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{})
	before := snapshot(t, p.dir)
	p.world.ResetRequests()
	for _, gone := range []string{"nothing", ".terraform"} {
		for _, locked := range []bool{false, true} {
			p.remove(t, gone)
			mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: locked})
			if requests := p.world.Requests(); len(requests) > 0 {
				t.Errorf("%s removed, locked %t: requests %v", gone, locked, requests)
			}
			if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
				t.Errorf("%s removed, locked %t: the project has changed (-first +now):\n%s", gone, locked, diff)
			}
		}
	}
}

// A locked version stays until its constraint excludes it, or it is updated.
func TestInstallIsSticky(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	p.publish(t, "acme/network/aws", "1.5.0")
	if v := version(p.mustInstall(t, request{}), "network"); v != "1.0.0" {
		t.Errorf("after a new release Install took %s, want the locked 1.0.0", v)
	}
	result := p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}})
	if v, pinned := version(result, "network"), version(result, "app.network"); v != "1.5.0" || pinned != "1.0.0" {
		t.Errorf("an update took %s and %s, want 1.5.0, and 1.0.0 for the call that is pinned", v, pinned)
	}
	absent(t, filepath.Join(p.dir, ".terraform/modules/network.subnets")) // whose call is gone
	p.publish(t, "acme/network/aws", "1.6.0")
	p.calls(t, "network MODTEST_HOST/acme/network/aws > 1.5")
	for _, dry := range []bool{true, false} {
		err := p.mustFail(t, request{InstallOptions: installer.InstallOptions{Locked: true, DryRun: dry}})
		var locked *installer.LockedError
		if !errors.As(err, &locked) || locked.Reasons[0].Path.String() != "network" {
			t.Errorf("Install with Locked and a stale entry = %v, want *LockedError about network", err)
		}
	}
	if v := version(p.mustInstall(t, request{}), "network"); v != "1.6.0" {
		t.Errorf("after the constraint changed Install took %s, want 1.6.0", v)
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
	testenv.Must(t, p.world.PublishArchive("net.zip", modtest.Txtar("-- main.tf --\n# evil\n")))
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
	testenv.Must(t, p.world.PublishVersion(pkg, version, modtest.Txtar("-- main.tf --\n")))
}

func (p *project) remove(t *testing.T, name string) {
	t.Helper()
	testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, filepath.FromSlash(name))))
}

func TestInstalledFilesThatChangedAreReplaced(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	before := snapshot(t, p.dir)
	p.write(t, ".terraform/modules/network/main.tf", "# edited\n")
	p.write(t, ".terraform/modules/network/evil.tf", "# added\n")
	testenv.Must(t, os.Remove(filepath.Join(p.dir, ".terraform/modules/network/README.md")))
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

// One Installer serves any number of runs at once, also in the same projects.
func TestOneInstallerManyRuns(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir = t.TempDir() })
	runs := map[string]func(installer.Project) (any, error){
		"Install": func(p installer.Project) (any, error) { return in.Install(t.Context(), p, installer.InstallOptions{}) },
		"Install with Locked": func(p installer.Project) (any, error) {
			return in.Install(t.Context(), p, installer.InstallOptions{Locked: true})
		},
		"Load":     func(p installer.Project) (any, error) { return in.Load(t.Context(), p, installer.LoadOptions{}) },
		"Verify":   func(p installer.Project) (any, error) { return in.Verify(t.Context(), p, installer.VerifyOptions{}) },
		"Outdated": func(p installer.Project) (any, error) { return in.Outdated(t.Context(), p, installer.OriginOptions{}) },
	}
	// Runs that do not install may come before the installation.
	isEarly := func(err error) bool {
		return isType[*installer.LockedError](err) || isType[*installer.MissingLockError](err) || errors.Is(err, installer.ErrNotInstalled)
	}
	var projects []installer.Project
	var wait sync.WaitGroup
	for range 10 {
		project := installer.Project{Dir: t.TempDir()}
		testenv.Must(t, p.world.WriteTree(project.Dir, "config"))
		projects = append(projects, project)
		for name, run := range runs {
			wait.Go(func() {
				if _, err := run(project); err != nil && (name == "Install" || !isEarly(err)) {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	wait.Wait()
	for _, project := range projects {
		report, err := in.Verify(t.Context(), project, installer.VerifyOptions{})
		if err != nil || !report.OK() {
			t.Errorf("Verify = %+v, %v", report, err)
		}
	}
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
