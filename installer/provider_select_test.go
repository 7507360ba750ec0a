package installer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

const cloudVersions = `
-- providers/acme/cloud/1.0.0/PLATFORM/terraform-provider-cloud --
1.0.0
-- providers/acme/cloud/1.1.0-rc.1/PLATFORM/terraform-provider-cloud --
1.1.0-rc.1
-- providers/acme/cloud/1.9.0/PLATFORM/terraform-provider-cloud --
1.9.0
-- providers/acme/cloud/1.10.0/PLATFORM/terraform-provider-cloud --
1.10.0
-- providers/acme/cloud/2.0.0/PLATFORM/terraform-provider-cloud --
2.0.0
`

func updateCloud(req *request, host string) {
	req.Update.Providers = []string{host + "/acme/cloud"}
}

func updateCloudTo(version string) func(req *request, host string) {
	return func(req *request, host string) {
		updateCloud(req, host)
		req.Update.To = versions.MustParse(version)
	}
}

// Each row selects one of cloudVersions.
func TestSelectProvider(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, cloudVersions, modtest.Options{})
	for _, row := range []struct {
		name       string
		constraint string
		locked     string // the version in the lock
		change     func(req *request, host string)
		want       string // the selected version, or a part of the error
	}{
		{"the newest release", "", "", nil, "2.0.0"},
		{"the locked version stays", ">= 1.0", "1.0.0", nil, "1.0.0"},
		{"a locked version that does not fit", "~> 2.0", "1.0.0", nil, "2.0.0"},
		{"a locked pre-release that no constraint names", ">= 1.0", "1.1.0-rc.1", nil, "2.0.0"},
		{"all are updated", "~> 1.0", "1.0.0", func(req *request, _ string) { req.Update.All = true }, "1.10.0"},
		{"one is updated", "~> 1.0", "1.0.0", updateCloud, "1.10.0"},
		{"one is updated to a version", ">= 1.0", "1.0.0", updateCloudTo("1.9.0"), "1.9.0"},
		{"a version that is not offered", ">= 1.0", "1.0.0", updateCloudTo("1.9.1"), "no version meets the constraint"},
		{"a version that the constraint does not allow", "~> 1.0", "1.0.0", updateCloudTo("2.0.0"), `2.0.0: the constraints "~> 1.0" do not allow this version`},
		{"a lower version by name", ">= 1.0", "2.0.0", updateCloudTo("1.9.0"), "2.0.0 -> 1.9.0"},
		{"an update to a lower version", ">= 1.0", "3.0.0", updateCloud, "3.0.0 -> 2.0.0"},
		{"an update to a lower version that is allowed", ">= 1.0", "3.0.0", func(req *request, host string) {
			updateCloud(req, host)
			req.Update.AllowDowngrade = true
		}, "2.0.0"},
		{"a lower version that the constraint asks for", "< 2.0", "2.0.0", nil, "1.10.0"},
		{"a lock that may not change", "~> 2.0", "1.0.0", func(req *request, _ string) { req.Locked = true }, `(main.tf:3): the lock has version 1.0.0, and the configuration asks for "~> 2.0"`},
		{"a lock that has no entry", "~> 2.0", "", func(req *request, _ string) { req.Locked = true }, `(main.tf:3): the lock has no entry for it`},
		{"offline mode", "", "", func(req *request, _ string) { req.Offline = true }, "its versions are not known: offline mode is set"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"main.tf": required(`cloud = { source = "HOST/acme/cloud", version = "` + row.constraint + `" }`)}
			if row.constraint == "" {
				files["main.tf"] = required(`cloud = { source = "HOST/acme/cloud" }`)
			}
			if row.locked != "" {
				files[".terraform.lock.hcl"] = lockedProvider("HOST/acme/cloud", row.locked)
			}
			req := request{Project: installer.Project{Dir: w.project(t, files)}}
			if row.change != nil {
				row.change(&req, string(w.Host()))
			}
			result, err := installProviders(t.Context(), w.in, req)
			got := errorText(err)
			if err == nil {
				got = result.Providers[0].Version.String()
			}
			if got != row.want && (err == nil || !strings.Contains(got, row.want)) {
				t.Errorf("selected %q, want %q", got, row.want)
			}
		})
	}
}

// The error about a conflict lists each constraint with its place, and the version that would be
// selected for it alone.
func TestProviderConflict(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, cloudVersions, modtest.Options{})
	dir := w.project(t, map[string]string{
		"main.tf":   required(`cloud = { source = "HOST/acme/cloud", version = ">= 2.0" }`) + "module \"c\" {\n  source = \"./c\"\n}\nmodule \"d\" {\n  source = \"./d\"\n}\n",
		"c/main.tf": required(`cloud = { source = "HOST/acme/cloud", version = "~> 1.9" }`),
		"d/main.tf": required(`cloud = { source = "HOST/acme/cloud" }`),
	})
	before := snapshot(t, dir)
	_, err := w.in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Scope: installer.ScopeAll})
	want := `provider HOST/acme/cloud: no version meets the constraint "~> 1.9, >= 2.0.0"; offered: 2.0.0, 1.10.0, 1.9.0, 1.1.0-rc.1, 1.0.0
  required by the root module (main.tf:3): >= 2.0 (alone: 2.0.0)
  required by module c (c/main.tf:3): ~> 1.9 (alone: 1.10.0)
  required by module d (d/main.tf:3)`
	if got := w.plain(errorText(err)); strings.TrimSpace(got) != want {
		t.Errorf("Install:\n%s\nwant:\n%s", got, want)
	}
	if noMatch, ok := errors.AsType[*versions.NoProviderMatchError](err); !ok || len(noMatch.Offered) != 5 {
		t.Errorf("the error is %T, want a *versions.NoProviderMatchError", err)
	}
	if after := snapshot(t, dir); len(after) != len(before) {
		t.Errorf("the project was changed: %v", after)
	}
}

// If many modules have the same requirement, the error lists it in a few lines.
func TestManyRequirements(t *testing.T) {
	t.Parallel()
	failed := &installer.ProviderError{Err: installer.ErrOffline}
	for i := range 40 {
		use := installer.ProviderRequirement{Constraint: "~> 1.0"}
		use.Range.Filename, use.Range.Start.Line = "main.tf", i+1
		if i == 30 {
			use.Constraint = "< 2.0"
		}
		failed.RequiredBy = append(failed.RequiredBy, use)
	}
	want := []string{"required by the root module (main.tf:1): ~> 1.0, and in 38 more places", "required by the root module (main.tf:31): < 2.0"}
	if got := failed.Requirements(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("Requirements = %q, want %q", got, want)
	}
}

// An update of a provider that no module requires fails without any requests.
func TestUpdateUnknownProvider(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, cloudVersions, modtest.Options{})
	dir := w.project(t, map[string]string{
		"main.tf":             required(`cloud = { source = "HOST/acme/cloud" }`),
		".terraform.lock.hcl": lockedProvider("HOST/acme/cloud", "1.0.0"),
	})
	req := request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Update: installer.Update{Providers: []string{string(w.Host()) + "/acme/other"}}}}
	if _, err := installProviders(t.Context(), w.in, req); !errors.Is(err, installer.ErrNoSuchProvider) {
		t.Errorf("InstallProviders = %v, want ErrNoSuchProvider", err)
	}
	req.Update.Providers = []string{"acme/cloud/"}
	if _, err := installProviders(t.Context(), w.in, req); err == nil {
		t.Error("InstallProviders with an update of an invalid address = nil, want an error")
	}
	if asked := w.asked(); len(asked) > 0 {
		t.Errorf("asked for %q", asked)
	}
}

// A locked version that the registry has withdrawn can still be installed from the cache.
func TestWithdrawnVersion(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, cloudVersions, modtest.Options{ProviderWarnings: []string{"acme/cloud moves soon"}})
	files := map[string]string{"main.tf": required(`cloud = { source = "HOST/acme/cloud", version = ">= 1.0" }`)}
	first := w.project(t, files)
	if _, err := installProviders(t.Context(), w.in, request{Project: installer.Project{Dir: first}}); err != nil {
		t.Fatal(err)
	}
	if got, want := w.warned(), "provider HOST/acme/cloud: acme/cloud moves soon"; got != want {
		t.Errorf("warnings %q, want %q", got, want)
	}
	testenv.Must(t, w.WithdrawProvider("acme/cloud", "2.0.0"))
	w.asked()
	files[".terraform.lock.hcl"] = fileIn(t, first, ".terraform.lock.hcl")
	dir := w.project(t, files)
	result, err := installProviders(t.Context(), w.in, request{Project: installer.Project{Dir: dir}})
	if err != nil || w.versionsOf(result.Providers) != "HOST/acme/cloud 2.0.0" || len(result.ProviderChanges) > 0 {
		t.Errorf("InstallProviders = %+v, %v", result, err)
	}
	if asked := w.asked(); len(asked) > 0 {
		t.Errorf("asked for %q", asked)
	}

	other := w.Installer() // with an empty cache
	_, err = installProviders(t.Context(), other, request{Project: installer.Project{Dir: w.project(t, files)}})
	unusable, ok := errors.AsType[*config.UnusableVersionError](err)
	if !ok || !unusable.Unlisted || !unusable.Allowed || unusable.Other.String() != "1.10.0" {
		t.Errorf("InstallProviders without the cache = %v", err)
	}
}

// failingModules is a registry of modules that fails as soon as there was a request for a
// provider.
type failingModules struct {
	installer.Registry
	asked <-chan context.Context
	early context.Context // the context of the request for the provider
}

func (f *failingModules) ModuleVersions(context.Context, addrs.ModuleRegistryPackage) ([]versions.Candidate, error) {
	f.early = <-f.asked
	return nil, registryclient.ErrNotFound
}

// silentSource is a source of providers that does not answer.
type silentSource struct {
	getproviders.Source
	asked chan<- context.Context
}

func (s silentSource) Versions(ctx context.Context, _ addrs.Provider) (getproviders.Listing, error) {
	s.asked <- ctx
	<-ctx.Done()
	return getproviders.Listing{}, ctx.Err()
}

// otherPlatform is a source that has packages for another platform only, and lists platforms only of the versions in known.
type otherPlatform struct {
	getproviders.Source
	known []string
}

func (s otherPlatform) Versions(context.Context, addrs.Provider) (getproviders.Listing, error) {
	var listing getproviders.Listing
	for _, number := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		version := getproviders.Version{Version: versions.MustParse(number)}
		if slices.Contains(s.known, number) {
			version.Platforms = []addrs.Platform{addrs.CurrentPlatform()}
		}
		listing.Versions = append(listing.Versions, version)
	}
	return listing, nil
}

func (s otherPlatform) Package(context.Context, addrs.Provider, versions.Version, addrs.Platform) (getproviders.Package, error) {
	return nil, getproviders.ErrUnsupportedPlatform
}

func (s otherPlatform) Evidence(addrs.Provider) []evidence.Evidence { return nil }
func (s otherPlatform) Local() getproviders.Source                  { return s }

// Only a version that is known to have a package for this platform is recommended.
func TestUnknownPlatforms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		known []string
		want  string
	}{
		"none":     {nil, "the source does not list platforms, so it is not known whether another version can be used on PLATFORM: it has 1.1.0, 1.0.0"},
		"an older": {[]string{"1.0.0"}, "the newest version that can be used on PLATFORM is 1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := installer.New(installer.Options{Providers: otherPlatform{known: tt.known}, CacheDir: t.TempDir(), StateDir: t.TempDir()})
			dir := writeProject(t, map[string]string{"main.tf": required(`cloud = { source = "example.com/acme/cloud" }`)}, "")
			_, err := installProviders(t.Context(), in, request{Project: installer.Project{Dir: dir}})
			if want := strings.ReplaceAll(tt.want, "PLATFORM", addrs.CurrentPlatform().String()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("InstallProviders = %v, want %q", err, want)
			}
		})
	}
}

// If the modules cannot be read, requests for providers that were sent meanwhile have ended when
// Install returns.
func TestListingsEndWithRun(t *testing.T) {
	t.Parallel()
	asked := make(chan context.Context, 1)
	modules := &failingModules{asked: asked}
	in := installer.New(installer.Options{Registry: modules, Providers: silentSource{asked: asked}})
	dir := writeProject(t, map[string]string{"main.tf": required(`cloud = { source = "example.com/acme/cloud" }`) + `
module "m" {
  source = "example.com/acme/m/aws"
}
`}, "")
	if _, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Scope: installer.ScopeAll}); !errors.Is(err, registryclient.ErrNotFound) {
		t.Errorf("Install = %v, want the error of the modules", err)
	}
	if modules.early == nil || modules.early.Err() == nil {
		t.Error("Install has returned, and the source is still asked")
	}
}
