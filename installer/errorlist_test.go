package installer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

// enumerated returns the paths of the module errors and the types of the providers in err.
func enumerated(err error) []string {
	var names []string
	for e := range installer.ModuleErrors(err) {
		names = append(names, e.Path.String())
	}
	for e := range installer.ProviderErrors(err) {
		names = append(names, "provider "+e.Provider.Type)
	}
	return names
}

func TestModuleErrors(t *testing.T) {
	t.Parallel()
	module := func(names ...string) *installer.ModuleError {
		return &installer.ModuleError{Path: names, Err: installer.ErrNotInstalled}
	}
	provider := func(name string) *installer.ProviderError {
		return &installer.ProviderError{Provider: addrs.Provider{Hostname: "example.com", Namespace: "acme", Type: name}, Err: installer.ErrNoSuchProvider}
	}
	again := module("a")
	for _, tt := range []struct {
		name string
		err  error
		want []string
	}{
		{"no error", nil, nil},
		{"an error about no module", installer.ErrOffline, nil},
		{"one", module("a"), []string{"a"}},
		{"wrapped", fmt.Errorf("in the project: %w", module("a")), []string{"a"}},
		{"joined, in the order of paths", errors.Join(module("b"), module("a", "z"), module("a")), []string{"a", "a.z", "b"}},
		{
			"joined at several levels, with providers",
			errors.Join(provider("null"), errors.Join(module("b"), errors.Join(provider("aws"), module("a")))),
			[]string{"a", "b", "provider aws", "provider null"},
		},
		{"the same error twice", errors.Join(again, fmt.Errorf("again: %w", again)), []string{"a"}},
		{"several in one sentence", fmt.Errorf("%w, and then %w", module("b"), module("a")), []string{"a", "b"}},
		{"several projects", errors.Join(&installer.ProjectError{Dir: "x", Err: module("b")}, &installer.ProjectError{Dir: "y", Err: module("a")}), []string{"a", "b"}},
		{
			"in the Extra of diagnostics",
			fmt.Errorf("cannot go on: %w", hcl.Diagnostics{{Summary: "One", Extra: module("b")}, {Summary: "Two", Extra: "text"}, {Summary: "Three", Extra: errors.Join(module("a"), provider("aws"))}}),
			[]string{"a", "b", "provider aws"},
		},
		{
			"in the diagnostics of a configuration", &installer.ConfigError{Diagnostics: hcl.Diagnostics{{Severity: hcl.DiagError, Extra: module("a")}}},
			[]string{"a"},
		},
		{"the reason of an error is not another one", &installer.ModuleError{Path: addrs.Module{"a"}, Err: module("b")}, []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, enumerated(tt.err)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a loop that ends early", func(t *testing.T) {
		t.Parallel()
		for e := range installer.ModuleErrors(errors.Join(module("b"), module("a"))) {
			if e.Path.String() != "a" {
				t.Errorf("the first error is about %s, want a", e.Path)
			}
			break
		}
	})
}

// brokenWorld has three calls at two levels that fail for different reasons, and a provider whose
// constraint does not parse.
const brokenWorld = `
-- config/main.tf --
terraform {
  required_providers {
    disk = { source = "MODTEST_HOST/acme/disk", version = "~> one" }
  }
}
module "network" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = "~> 9.0"
}
module "app" {
  source = "./app"
}
-- config/app/main.tf --
module "dns" {
  source = "git::https://MODTEST_HOST/git/infra.git?ref=v9.0.0"
}
module "nowhere" {
  source = "./nowhere"
}
-- registry/acme/network/aws/1.0.0/main.tf --
-- git/infra.git/v1.0.0/main.tf --
-- providers/acme/disk/1.0.0/PLATFORM/terraform-provider-disk_v1.0.0 --
disk
`

// No error of one module or provider hides that of another one.
func TestAllErrors(t *testing.T) {
	t.Parallel()
	all := []string{"app.dns", "app.nowhere", "network", "provider disk"}
	for _, tt := range []struct {
		name string
		run  func(*installer.Installer, request) error
		want []string
	}{
		{"Install", func(in *installer.Installer, req request) error {
			_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
			if _, ok := errors.AsType[*versions.NoMatchError](err); !ok { // of network
				return fmt.Errorf("no *versions.NoMatchError: %v", err) //nolint:errorlint // no error of a module
			}
			return err
		}, all},
		{"Install without modules", func(in *installer.Installer, req request) error {
			req.Scope = installer.ScopeProviders
			_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
			return err
		}, all},
		{"Install of a locked project", func(in *installer.Installer, req request) error {
			req.Locked = true
			_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
			var locked *installer.LockedError
			if !errors.As(err, &locked) || len(locked.Reasons) != 2 { // network and app.dns
				return fmt.Errorf("not two entries are refused: %v", err) //nolint:errorlint // no error of a module
			}
			return err
		}, []string{"app.nowhere", "provider disk"}},
		{"Load", func(in *installer.Installer, req request) error {
			_, err := in.Load(t.Context(), req.Project, req.load())
			return err
		}, all},
		{"Load of modules", func(in *installer.Installer, req request) error {
			req.Scope = installer.ScopeModules
			_, err := in.Load(t.Context(), req.Project, req.load())
			return err
		}, all[:3]},
		{"Verify", func(in *installer.Installer, req request) error {
			report, err := in.Verify(t.Context(), req.Project, installer.VerifyOptions{})
			if err != nil {
				return err
			}
			return errors.Join(slices.Concat(report.Stale, report.Misplaced, report.Refused, report.Unread)...)
		}, slices.Concat([]string{"app"}, all, []string{"provider disk"})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, strings.ReplaceAll(brokenWorld, "PLATFORM", addrs.CurrentPlatform().String()))
			p.write(t, ".terraform.lock.hcl", "")
			testenv.Must(t, os.MkdirAll(filepath.Join(p.dir, ".terraform", "providers"), 0o755))
			err := tt.run(p.installer(), request{Project: installer.Project{Dir: p.dir}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}})
			if diff := cmp.Diff(tt.want, enumerated(err)); diff != "" {
				t.Errorf("errors (-want +got):\n%s\n%v", diff, err)
			}
			if list, ok := err.(interface{ Unwrap() []error }); ok {
				for _, err := range list.Unwrap() {
					if fmt.Sprintf("%T", err) == fmt.Sprintf("%T", errors.Join(err)) {
						t.Errorf("the error joins one that joins others: %v", err)
					}
				}
			}
		})
	}
}

// Errors are joined once, with those of closing the project.
func TestOneErrorIsNotJoined(t *testing.T) {
	t.Parallel()
	p := world(t, "-- config/main.tf --\nmodule \"a\" {\n  source = \"./a\"\n}\n")
	_, err := p.installer().Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if _, ok := err.(*installer.ModuleError); !ok { //nolint:errorlint // the error itself
		t.Errorf("Install returns a %T, want a *ModuleError", err)
	}
}

// ProjectErrors enumerates the root modules that failed, and nil has none.
func TestProjectErrors(t *testing.T) {
	t.Parallel()
	a, b := &installer.ProjectError{Dir: "a", Err: installer.ErrOffline}, &installer.ProjectError{Dir: "b", Err: errors.Join(installer.ErrCycle, installer.ErrOffline)}
	got := slices.Collect(installer.ProjectErrors(fmt.Errorf("two failed: %w", errors.Join(b, a, b))))
	if len(got) != 2 || got[0] != b || got[1] != a {
		t.Errorf("ProjectErrors = %v", got)
	}
	if got := slices.Collect(installer.ProjectErrors(nil)); got != nil {
		t.Errorf("ProjectErrors of nil = %v", got)
	}
}
