package installer_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// appWorld has a module that requires a provider that its caller does not require.
const appWorld = cloudVersions + `
-- providers/acme/net/1.0.0/PLATFORM/terraform-provider-net --
1.0.0
-- registry/acme/app/aws/1.0.0/main.tf --
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

// appFiles are the files of a project in appWorld.
var appFiles = map[string]string{"main.tf": required(`cloud = { source = "HOST/acme/cloud", version = ">= 1.0" }`) + `
module "app" {
  source  = "HOST/acme/app/aws"
  version = "1.0.0"
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

// Each row is a run in another mode. All rows use the same project, and check its state after
// the run.
func TestProviderModes(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, appWorld, modtest.Options{})
	dir := w.project(t, appFiles)
	for _, row := range []struct {
		name              string
		req               request
		lock, install     bool // after the run
		changes, requests bool
	}{
		{"a dry run", request{InstallOptions: installer.InstallOptions{DryRun: true}}, false, false, true, true},
		{"the lock alone", request{InstallOptions: installer.InstallOptions{LockOnly: true}}, true, false, true, true}, // listings are asked for in each run
		{"a dry run with a lock", request{InstallOptions: installer.InstallOptions{DryRun: true}}, true, false, false, false},
		{"from the cache", request{InstallOptions: installer.InstallOptions{Offline: true, Locked: true}}, true, true, false, false},
		{"again", request{}, true, true, false, false},
		{"again, by the lock", request{InstallOptions: installer.InstallOptions{Locked: true}}, true, true, false, false},
	} {
		w.asked()
		row.req.Dir, row.req.Scope = dir, installer.ScopeAll
		result, err := w.in.Install(t.Context(), row.req.Project, row.req.InstallOptions)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if got := w.versionsOf(result.Providers); got != appProviders {
			t.Errorf("%s: providers %q, want %q", row.name, got, appProviders)
		}
		if changes := len(result.ProviderChanges) > 0; changes != row.changes {
			t.Errorf("%s: changes %+v, want some: %v", row.name, result.ProviderChanges, row.changes)
		}
		if asked := w.asked(); (len(asked) > 0) != row.requests {
			t.Errorf("%s: asked for %q, want requests: %v", row.name, asked, row.requests)
		}
		if lock := strings.Contains(fileIn(t, dir, ".terraform.lock.hcl"), "acme/net\""); lock != row.lock {
			t.Errorf("%s: the lock has the providers: %v, want %v", row.name, lock, row.lock)
		}
		if _, err := os.Stat(w.placed(dir)); (err == nil) != row.install {
			t.Errorf("%s: installed: %v, want %v", row.name, err, row.install)
		}
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

// A provider that several projects use is fetched only once. If one project fails, the others
// are still installed.
func TestInstallAllProviders(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, appWorld, modtest.Options{})
	w.mustInstall(t, request{Project: installer.Project{Dir: w.project(t, appFiles)}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}})
	want := len(w.asked())
	dirs := []string{w.project(t, map[string]string{"main.tf": required(`cloud = { source = "HOST/acme/cloud", version = "9.0.0" }`)})}
	for range 6 {
		dirs = append(dirs, w.project(t, appFiles))
	}
	in := w.Installer() // with an empty cache
	results, err := in.InstallAll(t.Context(), projects(dirs...), installer.InstallOptions{Scope: installer.ScopeAll})
	failed, ok := errors.AsType[*installer.ProjectError](err)
	if !ok || failed.Dir != dirs[0] || !strings.Contains(err.Error(), "no version meets") {
		t.Errorf("InstallAll = %v, want an error of the first project", err)
	}
	for i, result := range results[1:] {
		if result == nil || w.versionsOf(result.Providers) != appProviders {
			t.Errorf("project %d: %+v", i+1, result)
		}
	}
	if got := len(w.asked()); got != want {
		t.Errorf("7 projects took %d requests, one takes %d", got, want)
	}
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
		{"no provider", "output \"x\" {\n  value = 1\n}\n", "provider HOST/acme/cloud: the lock has an entry for it, but no module requires it"},
		{"no provider, and a backend", "terraform {\n  backend \"s3\" {}\n}\n", ""},
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

func TestOutdatedProviders(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, cloudVersions, modtest.Options{})
	dir := w.project(t, map[string]string{
		"main.tf":             required(`cloud = { source = "HOST/acme/cloud", version = "~> 1.0" }`, `gone = { source = "HOST/acme/gone" }`),
		".terraform.lock.hcl": lockedProvider("HOST/acme/cloud", "1.0.0"),
	})
	found, err := outdatedProviders(t.Context(), w.in, request{Project: installer.Project{Dir: dir}})
	failed, ok := errors.AsType[*installer.ProviderError](err)
	if !ok || failed.Provider.Type != "gone" {
		t.Errorf("OutdatedProviders: error %v, want one of acme/gone", err)
	}
	if text := w.plain(err.Error()); !strings.HasPrefix(text, "provider HOST/acme/gone: GET https://HOST/v1/providers/acme/gone/versions: ") {
		t.Errorf("OutdatedProviders: error %q, want one that names the provider once", text)
	}
	if len(found) != 2 || found[0].Current.String() != "1.0.0" || found[0].Allowed.String() != "1.10.0" || found[0].Latest.String() != "2.0.0" || found[0].Constraints.String() != "~> 1.0" {
		t.Errorf("OutdatedProviders = %+v", found)
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
	// A project that is for terraform from now on gets a copy, and keeps it.
	req := request{Project: installer.Project{Dir: w.project(t, plain)}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	for _, dialect := range []installer.Dialect{installer.DialectOpenTofu, installer.DialectTerraform, installer.DialectOpenTofu} {
		req.Dialect = dialect
		result := w.mustInstall(t, req)
		info, err := os.Lstat(filepath.Join(req.Dir, filepath.FromSlash(result.Providers[0].Dir)))
		if err != nil || len(result.Refetched) > 0 {
			t.Fatal(err, result.Refetched)
		}
		if link := info.Mode()&fs.ModeSymlink != 0; link && dialect == installer.DialectTerraform {
			t.Errorf("there is a link for %s", dialect)
		}
	}
}
