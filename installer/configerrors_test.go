package installer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// halfReadable is a world in which a file of the module app does not parse. The module has a call
// in another file.
const halfReadable = `
-- config/main.tf --
module "network" {
  source  = "MODTEST_HOST/acme/network/aws"
}
module "app" {
  source = "./app"
}
-- config/app/main.tf --
module "dns" {
  source = "git::https://MODTEST_HOST/git/infra.git?ref=v1.0.0"
}
-- registry/acme/network/aws/1.0.0/main.tf --
-- git/infra.git/v1.0.0/main.tf --
module "zone" {
  source = "./zone"
}
-- git/infra.git/v1.0.0/zone/main.tf --
`

// broken is a file that does not parse. Without a module block, Install would not parse it at all
// unless the request includes providers.
const broken = "resource \"x\" {{{\nmodule \"late\" {\n"

// unresolved returns the paths of the unresolved modules of a result.
func unresolved(result *installer.Result) []string {
	var paths []string
	for _, u := range result.Unresolved {
		paths = append(paths, u.Path.String())
	}
	return paths
}

// A configuration error in one file does not hide the calls of the module. Install looks at them,
// but changes nothing.
func TestInstallOfBrokenConfiguration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		unread     string // the path of the module that cannot be read
	}{
		{"in the root module", "broken.tf", ""},
		{"in a module that it calls", "app/broken.tf", "app"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, halfReadable)
			p.write(t, tt.file, broken)
			p.write(t, strings.Replace(tt.file, "broken", "broken_too", 1), broken)
			before := snapshot(t, p.dir)
			result, err := p.installer().Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
			unread, ok := errors.AsType[*installer.ConfigError](err)
			if !ok || unread.Path.String() != tt.unread {
				t.Fatalf("Install = %v, want a *ConfigError about module %q", err, tt.unread)
			}
			if text := err.Error(); strings.Count(text, "\n") != len(unread.Diagnostics)-1 || len(unread.Diagnostics) < 2 {
				t.Errorf("the error has %d diagnostics, and its text is:\n%s", len(unread.Diagnostics), text)
			}
			if diff := cmp.Diff([]string{"app", "app.dns", "app.dns.zone", "network"}, keysOf(result)); diff != "" {
				t.Errorf("modules (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{tt.unread}, unresolved(result)); diff != "" {
				t.Errorf("unresolved modules (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
				t.Errorf("the project has changed (-before +after):\n%s", diff)
			}
		})
	}
}

func keysOf(result *installer.Result) []string {
	var keys []string
	for _, m := range result.Modules {
		keys = append(keys, m.Path.String())
	}
	return keys
}

// With AllowConfigErrors, Install installs the calls that could be read, as stock tools do.
func TestAllowConfigErrors(t *testing.T) {
	t.Parallel()
	p := world(t, halfReadable)
	p.write(t, "app/broken.tf", broken)
	req := request{Project: installer.Project{Dir: p.dir}, InstallOptions: installer.InstallOptions{AllowConfigErrors: true, Scope: installer.ScopeAll}}
	result, err := p.installer().Install(t.Context(), req.Project, req.InstallOptions)
	if _, ok := errors.AsType[*installer.ConfigError](err); !ok || len(result.LockChanges) != 2 {
		t.Fatalf("Install = %+v, %v", result, err)
	}
	loaded, err := p.installer().Load(t.Context(), installer.Project{Dir: p.dir}, installer.LoadOptions{})
	if _, ok := errors.AsType[*installer.ConfigError](err); !ok {
		t.Fatalf("Load = %v, want a *ConfigError", err)
	}
	if diff := cmp.Diff([]string{"app  app 0", "app.dns  .terraform/modules/app.dns 2", "app.dns.zone  .terraform/modules/app.dns/zone 0", "network 1.0.0 .terraform/modules/network 2"}, describe(loaded)); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"app"}, unresolved(loaded)); diff != "" {
		t.Errorf("unresolved modules (-want +got):\n%s", diff)
	}
}

// What an earlier run has installed for calls that can no longer be seen stays.
func TestAllowConfigErrorsKeepsTheUnseen(t *testing.T) {
	t.Parallel()
	p := world(t, halfReadable)
	p.mustInstall(t, request{})
	installed := snapshot(t, p.dir)
	readable := p.file("app/main.tf")
	p.write(t, "app/main.tf", broken)
	p.write(t, "app/more.tf", "module \"network\" {\n  source = \"MODTEST_HOST/acme/network/aws\"\n}\n")
	for _, locked := range []bool{false, true} {
		_, err := p.installer().Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{AllowConfigErrors: true, Locked: locked})
		if _, ok := errors.AsType[*installer.ConfigError](err); !ok || len(enumerated(err)) > 0 {
			t.Fatalf("Install with Locked = %t: %v, want only a *ConfigError", locked, err)
		}
	}
	for _, key := range []string{"app.dns", "app.network"} {
		if !strings.Contains(p.file(".terraform.lock.hcl"), `module "`+key+`"`) || !strings.Contains(p.file(".terraform/modules/modules.json"), `"`+key+`"`) {
			t.Errorf("the lock or modules.json lacks %s:\n%s\n%s", key, p.file(".terraform.lock.hcl"), p.file(".terraform/modules/modules.json"))
		}
	}
	p.write(t, "app/main.tf", readable)
	p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
	p.world.ResetRequests()
	p.write(t, "app/more.tf", "")
	p.mustInstall(t, request{})
	if requests := p.world.Requests(); len(requests) > 0 {
		t.Errorf("what stayed was requested again: %v", requests)
	}
	if diff := cmp.Diff(installed[".terraform.lock.hcl"], snapshot(t, p.dir)[".terraform.lock.hcl"]); diff != "" {
		t.Errorf("the lock (-before +after):\n%s", diff)
	}
}

// Errors of other kinds end an installation nevertheless.
func TestAllowConfigErrorsAllowsNothingElse(t *testing.T) {
	t.Parallel()
	p := world(t, halfReadable)
	p.write(t, "app/broken.tf", broken)
	p.write(t, "gone.tf", "module \"gone\" {\n  source = \"MODTEST_HOST/acme/gone/aws\"\n}\n")
	err := p.mustFail(t, request{InstallOptions: installer.InstallOptions{AllowConfigErrors: true}})
	if _, ok := errors.AsType[*installer.ConfigError](err); !ok {
		t.Errorf("Install = %v, want a *ConfigError too", err)
	}
	if diff := cmp.Diff([]string{"gone"}, enumerated(err)); diff != "" {
		t.Errorf("errors about modules (-want +got):\n%s", diff)
	}
}

// A provider that no version suits is reported beside a module that cannot be found if the versions
// are known, and nothing is requested for it: neither versions nor packages.
func TestProviderErrorBesideModuleError(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, `
-- providers/acme/disk/1.0.0/PLATFORM/terraform-provider-disk_v1.0.0 --
disk
-- providers/acme/net/1.0.0/PLATFORM/terraform-provider-net_v1.0.0 --
net
`, modtest.Options{})
	const providers = `
terraform {
  required_providers {
    disk = { source = "HOST/acme/disk", version = "~> 9.0" }
    net  = { source = "HOST/acme/net" }
  }
}
`
	in, done, err := installerinternal.Share(w.in)
	testenv.Must(t, err)
	defer done()
	dir := w.project(t, map[string]string{"main.tf": providers})
	if _, err := in.Outdated(t.Context(), installer.Project{Dir: dir}, installer.OriginOptions{Scope: installer.ScopeAll}); err != nil {
		t.Fatal(err)
	}
	w.asked()
	dir = w.project(t, map[string]string{"main.tf": providers + `module "gone" { source = "HOST/acme/gone/aws" }`})
	_, err = in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Scope: installer.ScopeAll})
	if diff := cmp.Diff([]string{"gone", "provider disk"}, enumerated(err)); diff != "" {
		t.Errorf("errors (-want +got):\n%s\n%v", diff, err)
	}
	for _, path := range w.asked() {
		if strings.Contains(path, "/providers/") {
			t.Errorf("the failed run requested %s", path)
		}
	}
}
