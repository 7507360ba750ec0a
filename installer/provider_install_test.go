package installer_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// appModule requires a provider that its caller does not require.
const appModule = `
-- main.tf --
terraform {
  required_providers {
    cloud = {
      source  = "MODTEST_HOST/acme/cloud"
      version = "< 2.0"
    }
    net = {
      source = "MODTEST_HOST/acme/net"
    }
  }
}
`

var appWorld = cloudVersions + `
-- providers/acme/net/1.0.0/PLATFORM/terraform-provider-net --
1.0.0
` + strings.Replace(appModule, "main.tf", "registry/acme/app/aws/1.0.0/main.tf", 1)

// appFiles are the files of a project in appWorld.
var appFiles = map[string]string{"main.tf": required(`cloud = { source = "HOST/acme/cloud", version = ">= 1.0" }`) + `
module "app" {
  source  = "HOST/acme/app/aws"
  version = "~> 1.0"
}
`}

// appProviders lists the providers that the project installs.
const appProviders = "HOST/acme/cloud 1.10.0, HOST/acme/net 1.0.0"

func (w *providerWorld) mustInstall(t *testing.T, req request) *installer.Result {
	t.Helper()
	result, err := w.in.Install(t.Context(), req.Project, req.InstallOptions)
	testenv.Must(t, err)
	return result
}

// placed returns the path of the installed file of acme/cloud 1.10.0.
func (w *providerWorld) placed(dir string) string {
	return filepath.Join(dir, ".terraform/providers", string(w.Host()), "acme/cloud/1.10.0", addrs.CurrentPlatform().String(), "terraform-provider-cloud")
}

// Each row is a run in another mode, with modules and providers. All rows use the same project, and check
// what the run has changed in it.
func TestModes(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, appWorld, modtest.Options{})
	dir := w.project(t, appFiles)
	nothing := func() {}
	publish := func() {
		testenv.Must(t, w.PublishVersion("acme/app/aws", "1.1.0", modtest.Txtar(appModule+"# newer\n")))
		testenv.Must(t, w.PublishProvider("acme/cloud", "1.11.0", addrs.CurrentPlatform().String(), modtest.Txtar("-- terraform-provider-cloud --\nnewer\n")))
	}
	for _, row := range []struct {
		name                   string
		before                 func()
		options                installer.InstallOptions
		app, cloud             string // the versions
		changes, locks, places bool   // in the result, in the lock and in .terraform
		requests               bool
	}{
		{"a dry run", nothing, installer.InstallOptions{DryRun: true}, "1.0.0", "1.10.0", true, false, false, true},
		{"the lock alone", nothing, installer.InstallOptions{LockOnly: true}, "1.0.0", "1.10.0", true, true, false, true}, // listings are asked for in each run
		{"a dry run with a lock", nothing, installer.InstallOptions{DryRun: true}, "1.0.0", "1.10.0", false, false, false, false},
		{"from the cache", nothing, installer.InstallOptions{Offline: true, Locked: true}, "1.0.0", "1.10.0", false, false, true, false},
		{"again", nothing, installer.InstallOptions{}, "1.0.0", "1.10.0", false, false, false, false},
		{"again, by the lock", nothing, installer.InstallOptions{Locked: true}, "1.0.0", "1.10.0", false, false, false, false},
		{"newer versions are offered", publish, installer.InstallOptions{}, "1.0.0", "1.10.0", false, false, false, false},
		{"a module is updated", nothing, installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"app"}}}}, "1.1.0", "1.10.0", true, true, true, true},
		{"a provider is updated in the lock", nothing, installer.InstallOptions{LockOnly: true, Update: installer.Update{Providers: []string{string(w.Host()) + "/acme/cloud"}}}, "1.1.0", "1.11.0", true, true, false, true},
		{"what the lock has", nothing, installer.InstallOptions{Offline: true, Locked: true}, "1.1.0", "1.11.0", false, false, true, false},
	} {
		row.before()
		w.asked()
		before := snapshot(t, dir)
		row.options.Scope = installer.ScopeAll
		result, err := w.in.Install(t.Context(), installer.Project{Dir: dir, Layout: installer.LayoutCopy}, row.options)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		want := fmt.Sprintf("app %s, HOST/acme/cloud %s, HOST/acme/net 1.0.0", row.app, row.cloud)
		if got := "app " + version(result, "app") + ", " + w.versionsOf(result.Providers); got != want {
			t.Errorf("%s: got %s, want %s", row.name, got, want)
		}
		if changes := len(result.LockChanges)+len(result.ProviderChanges) > 0; changes != row.changes {
			t.Errorf("%s: changes %+v and %+v, want some: %v", row.name, result.LockChanges, result.ProviderChanges, row.changes)
		}
		if asked := w.asked(); (len(asked) > 0) != row.requests {
			t.Errorf("%s: asked for %q, want requests: %v", row.name, asked, row.requests)
		}
		const lock = ".terraform.lock.hcl"
		after := snapshot(t, dir)
		if locks := before[lock] != after[lock]; locks != row.locks {
			t.Errorf("%s: the lock has changed: %v, want %v", row.name, locks, row.locks)
		}
		delete(before, lock)
		delete(after, lock)
		if diff := cmp.Diff(before, after); (diff != "") != row.places {
			t.Errorf("%s: changes of the other files, wanted: %v (-before +after):\n%s", row.name, row.places, diff)
		}
		if installed := exists(filepath.Join(dir, ".terraform")); !installed && row.places || installed && len(before)+len(after) == 2 {
			t.Errorf("%s: .terraform exists: %v", row.name, installed)
		}
	}
	if report, err := w.in.Verify(t.Context(), installer.Project{Dir: dir}, installer.VerifyOptions{}); err != nil || !report.OK() {
		t.Errorf("Verify = %+v, %v", report, err)
	}
}

// If the lock must not change, it must have a hash for each requested platform.
func TestLockedPlatform(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, appWorld+`
-- providers/acme/cloud/1.10.0/plan9_mips/terraform-provider-cloud --
1.10.0 for another platform
-- providers/acme/net/1.0.0/plan9_mips/terraform-provider-net --
1.0.0 for another platform
`, modtest.Options{})
	dir := w.project(t, appFiles)
	other := []addrs.Platform{{OS: "plan9", Arch: "mips"}}
	w.mustInstall(t, request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}})
	w.mustInstall(t, request{Project: installer.Project{Dir: dir, Platforms: other}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll, Locked: true}}) // the signed sums contain all platforms

	lock := filepath.Join(dir, ".terraform.lock.hcl")
	whole := fileIn(t, dir, ".terraform.lock.hcl")
	alone := regexp.MustCompile(`(?m)^ *"zh:.*\n`).ReplaceAllString(whole, "")
	testenv.Must(t, os.WriteFile(lock, []byte(alone), 0o600))
	_, err := w.in.Install(t.Context(), installer.Project{Dir: dir, Platforms: other}, installer.InstallOptions{Scope: installer.ScopeAll, Locked: true})
	refused, ok := errors.AsType[*installer.LockedError](err)
	if !ok || len(refused.Reasons) != 2 || refused.Reasons[0].Reason != "the lock has no h1: or zh: hash of its package for plan9_mips" {
		t.Errorf("Install by a lock without the platform = %v", err)
	}
	if got := fileIn(t, dir, ".terraform.lock.hcl"); got != alone {
		t.Errorf("the lock was changed:\n%s", got)
	}
	w.mustInstall(t, request{Project: installer.Project{Dir: dir, Platforms: other}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}})
	w.mustInstall(t, request{Project: installer.Project{Dir: dir, Platforms: other}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll, Locked: true}})
}

// A run without Providers does not change the installed providers or their entries.
// InstallProviders does not change the modules.
func TestProvidersAndModulesApart(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, appWorld, modtest.Options{})
	dir := w.project(t, appFiles)
	if _, err := installProviders(t.Context(), w.in, request{Project: installer.Project{Dir: dir}}); !errors.Is(err, installer.ErrNotInstalled) {
		t.Errorf("InstallProviders without the modules = %v, want ErrNotInstalled", err)
	}
	w.mustInstall(t, request{Project: installer.Project{Dir: dir}})
	if lock := fileIn(t, dir, ".terraform.lock.hcl"); strings.Contains(lock, `provider "`) || !strings.Contains(lock, `module "app"`) {
		t.Errorf("the lock of the modules alone:\n%s", lock)
	}
	result, err := installProviders(t.Context(), w.in, request{Project: installer.Project{Dir: dir}})
	if err != nil || w.versionsOf(result.Providers) != appProviders || len(result.Modules) != 1 {
		t.Fatalf("InstallProviders = %+v, %v", result, err)
	}
	both := fileIn(t, dir, ".terraform.lock.hcl")
	if !strings.Contains(both, `module "app"`) || !strings.Contains(both, "acme/net\"") {
		t.Errorf("the lock of both:\n%s", both)
	}
	w.mustInstall(t, request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}})
	if got := fileIn(t, dir, ".terraform.lock.hcl"); got != both {
		t.Errorf("an update of the modules alone changed the lock:\n%s", got)
	}
}

// Verify compares the installed providers with the lock.
func TestVerifyProviders(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, appWorld, modtest.Options{})
	req := request{Project: installer.Project{Dir: w.project(t, appFiles), Layout: installer.LayoutCopy}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	w.mustInstall(t, req)
	verify := func(want ...installer.Status) {
		t.Helper()
		report, err := w.in.Verify(t.Context(), installer.Project{Dir: req.Dir}, installer.VerifyOptions{})
		testenv.Must(t, err)
		ok := true
		for i, p := range report.Providers {
			ok = ok && p.Status == installer.StatusVerified
			if i >= len(want) || p.Status != want[i] || p.Err != nil {
				t.Errorf("%s: %s, %v; want %v", p.Provider, p.Status, p.Err, want)
			}
		}
		if len(report.Providers) != len(want) || report.OK() != ok {
			t.Errorf("Verify = %+v (%v), want %v", report.Providers, report.OK(), want)
		}
	}
	verify(installer.StatusVerified, installer.StatusVerified)
	file := w.placed(req.Dir)
	testenv.Must(t, errors.Join(os.Chmod(filepath.Dir(file), 0o755), os.Remove(file), os.WriteFile(file, []byte("other"), 0o755)))
	verify(installer.StatusChanged, installer.StatusVerified)
	testenv.Must(t, os.RemoveAll(filepath.Dir(file)))
	verify(installer.StatusMissing, installer.StatusVerified)
	w.mustInstall(t, req)
	verify(installer.StatusVerified, installer.StatusVerified)
	testenv.Must(t, os.RemoveAll(filepath.Join(req.Dir, ".terraform/providers")))
	verify() // the project was installed without providers
}

// Verify reports where the lock does not match the providers that the modules require.
func TestVerifyStaleProviders(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, cloudVersions, modtest.Options{})
	cloud := func(constraint string) string {
		return required(`cloud = { source = "HOST/acme/cloud", version = "` + constraint + `" }`)
	}
	for _, row := range []struct{ name, main, want string }{
		{"nothing has changed", cloud("~> 1.0"), ""},
		{"another constraint that fits", cloud(">= 1.0"), ""},
		{"another constraint", cloud("~> 2.0"), `provider HOST/acme/cloud: the lock has version 1.10.0, and the configuration asks for "~> 2.0"`},
		{"another provider", cloud("~> 1.0") + "resource \"x_thing\" \"a\" {}\n", "provider hashicorp/x: the lock has no entry for it"},
		{"no provider", "output \"x\" {\n  value = 1\n}\n", ""},
		{"a module that is not there", "module \"a\" {\n  source = \"HOST/acme/a/b\"\n}\n", "module a (main.tf:2): the lock has no entry for it"},
	} {
		req := request{Project: installer.Project{Dir: w.project(t, map[string]string{"main.tf": cloud("~> 1.0")})}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
		w.mustInstall(t, req)
		testenv.Must(t, os.WriteFile(filepath.Join(req.Dir, "main.tf"), []byte(strings.ReplaceAll(row.main, "HOST", string(w.Host()))), 0o644))
		report, err := w.in.Verify(t.Context(), installer.Project{Dir: req.Dir}, installer.VerifyOptions{})
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		got, _, _ := strings.Cut(w.plain(errorText(errors.Join(report.Stale...))), "\n")
		if got != row.want || report.OK() != (row.want == "") {
			t.Errorf("%s: stale %q, want %q", row.name, got, row.want)
		}
	}
}

// Terraform writes to installed packages, and OpenTofu does not. So only a project for OpenTofu has
// links to the cache, and only if it is not likely that Terraform runs there.
func TestProviderLayout(t *testing.T) {
	t.Parallel()
	w := newStockWorld(t, stockVersions)
	plain := map[string]string{"main.tf": required(`disk = { source = "HOST/acme/disk" }`)}
	with := func(name, text string) map[string]string {
		return map[string]string{"main.tf": plain["main.tf"], name: text}
	}
	for _, row := range []struct {
		name  string
		files map[string]string
		req   request
		link  bool
	}{
		{"for tofu", plain, request{Project: installer.Project{Dialect: installer.DialectOpenTofu}}, true},
		{"for tofu, both tools", plain, request{Project: installer.Project{Dialect: installer.DialectOpenTofu, Tools: bothTools}}, true},
		{"for tofu, copies", plain, request{Project: installer.Project{Dialect: installer.DialectOpenTofu, Layout: installer.LayoutCopy}}, false},
		{"for tofu, portable", plain, request{Project: installer.Project{Dialect: installer.DialectOpenTofu, Layout: installer.LayoutPortable}}, false},
		{"for tofu, terraform runs next", plain, request{Project: installer.Project{Dialect: installer.DialectOpenTofu, Next: installer.DialectTerraform}}, false},
		{"for terraform", plain, request{Project: installer.Project{Dialect: installer.DialectTerraform}}, false},
		{"for terraform, only tofu", plain, request{Project: installer.Project{Dialect: installer.DialectTerraform, Tools: onlyTofu}}, false},
		{"no sign, no tool is known", plain, request{}, false},
		{"no sign, both tools", plain, request{Project: installer.Project{Tools: bothTools}}, false},
		{"no sign, only terraform", plain, request{Project: installer.Project{Tools: onlyTerraform}}, false},
		{"no sign, only tofu", plain, request{Project: installer.Project{Tools: onlyTofu}}, true},
		{"a file of tofu", with("x.tofu", ""), request{Project: installer.Project{Tools: bothTools}}, true},
		{"a file of tofu, terraform runs next", with("x.tofu", ""), request{Project: installer.Project{Next: installer.DialectTerraform}}, false},
		{"a version of terraform", with(".terraform-version", "1.11.4\n"), request{Project: installer.Project{Tools: bothTools}}, false},
		{"a file of tofu and a version of terraform", map[string]string{"main.tf": plain["main.tf"], "x.tofu": "", ".terraform-version": "1.11.4\n"}, request{}, false},
		{"a lock of terraform", with(".terraform.lock.hcl", "# This file is maintained automatically by \"terraform init\".\n"), request{Project: installer.Project{Tools: bothTools}}, false},
		{"a lock of tofu", with(".terraform.lock.hcl", "# This file is maintained automatically by \"tofu init\".\n"), request{Project: installer.Project{Tools: bothTools}}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			req := row.req
			req.Dir, req.Scope = w.project(t, row.files), installer.ScopeAll
			result := w.mustInstall(t, req)
			dir := filepath.Join(req.Dir, filepath.FromSlash(result.Providers[0].Dir))
			info, err := os.Lstat(dir)
			testenv.Must(t, err)
			if link := info.Mode()&fs.ModeSymlink != 0; link != row.link && runtime.GOOS != "windows" {
				t.Errorf("link: %v, want %v", link, row.link)
			}
			file := filepath.Join(dir, "terraform-provider-disk")
			if info, err = os.Stat(file); err != nil || !row.link && info.Mode().Perm() != 0o755 {
				t.Errorf("the file has mode %v, %v", info.Mode(), err)
			}
		})
	}
	// A project that is for terraform, or is carried, from now on gets a copy, and keeps it.
	linked := installer.Project{Dialect: installer.DialectOpenTofu}
	for _, copied := range []installer.Project{
		{Dialect: installer.DialectTerraform}, {Dialect: installer.DialectOpenTofu, Layout: installer.LayoutPortable},
	} {
		dir := w.project(t, plain)
		for i, p := range []installer.Project{linked, copied, linked} {
			p.Dir = dir
			result := w.mustInstall(t, request{Project: p, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}})
			info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(result.Providers[0].Dir)))
			if err != nil || len(result.Refetched) > 0 {
				t.Fatal(err, result.Refetched)
			}
			if link := info.Mode()&fs.ModeSymlink != 0; link != (i == 0) && runtime.GOOS != "windows" {
				t.Errorf("for %s in the layout %s, run %d: a link is there: %t", copied.Dialect, copied.Layout, i, link)
			}
		}
	}
}
