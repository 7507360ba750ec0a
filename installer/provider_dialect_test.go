package installer_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

func newStockWorld(t *testing.T, text string) *providerWorld {
	t.Helper()
	w := newProviderWorld(t, text, modtest.Options{})
	here := map[string]any{"providers.v1": w.URL() + "/v1/providers/", "modules.v1": w.URL() + "/v1/modules/"}
	in := installer.New(installer.Options{
		HTTPClient: w.HTTPClient(), CacheDir: t.TempDir(), StateDir: t.TempDir(), OnEvent: w.in.Options().OnEvent,
		Services: map[addrs.Hostname]map[string]any{addrs.DefaultRegistryHost: here, addrs.TerraformRegistryHost: here},
	})
	w.in = in
	return w
}

// stockVersions are two versions each of a provider of hashicorp and of one of acme.
const stockVersions = `
-- providers/hashicorp/cloud/1.0.0/PLATFORM/terraform-provider-cloud --
1.0.0
-- providers/hashicorp/cloud/1.5.0/PLATFORM/terraform-provider-cloud --
1.5.0
-- providers/hashicorp/cloud/2.0.0/PLATFORM/terraform-provider-cloud --
2.0.0
-- providers/acme/disk/1.0.0/PLATFORM/terraform-provider-disk --
1.0.0
-- providers/acme/disk/2.0.0/PLATFORM/terraform-provider-disk --
2.0.0
`

const hostlessCloud = `cloud = { source = "hashicorp/cloud" }`

// If providers depend on the dialect, and it is a guess or the machine contradicts it, a warning
// says what was assumed and why.
func TestAssumedDialectOfProviders(t *testing.T) {
	t.Parallel()
	w := newStockWorld(t, stockVersions)
	locked := map[string]string{"main.tf": required(hostlessCloud), ".terraform.lock.hcl": lockedProvider("registry.terraform.io/hashicorp/cloud", "1.0.0")}
	const (
		terraformAssumed = `terraform was assumed, so provider hashicorp/cloud comes from registry.terraform.io`
		tofuAssumed      = `tofu was assumed, so provider hashicorp/cloud comes from registry.opentofu.org`
	)
	for _, row := range []struct {
		name  string
		files map[string]string
		req   request
		want  string // the installed provider
		warns string
	}{
		{"a lock of terraform, only tofu", locked, request{Project: installer.Project{Tools: onlyTofu}}, "registry.terraform.io/hashicorp/cloud 1.0.0",
			"it is not clear which stock tool the project is for: the hosts of the lock's providers (terraform), but the only installed tool (tofu); " + terraformAssumed},
		{"a lock of terraform, for tofu", locked, request{Project: installer.Project{Tools: onlyTofu, Dialect: installer.DialectOpenTofu}}, "registry.opentofu.org/hashicorp/cloud 1.0.0", ""},

		{"no lock, only terraform", map[string]string{"main.tf": required(hostlessCloud)}, request{Project: installer.Project{Tools: onlyTerraform}}, "registry.terraform.io/hashicorp/cloud 2.0.0", ""},
		{"no lock, both", map[string]string{"main.tf": required(hostlessCloud)}, request{Project: installer.Project{Tools: bothTools}}, "registry.opentofu.org/hashicorp/cloud 2.0.0",
			"nothing in the project shows whether it is for tofu or for terraform; " + tofuAssumed},

		{"implied by a resource, only terraform", map[string]string{"main.tf": "resource \"cloud_disk\" \"a\" {\n}\n"}, request{Project: installer.Project{Tools: onlyTerraform}}, "registry.terraform.io/hashicorp/cloud 2.0.0", ""},
		{"by a local module, only terraform", map[string]string{"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "m/main.tf": required(hostlessCloud)}, request{Project: installer.Project{Tools: onlyTerraform}}, "registry.terraform.io/hashicorp/cloud 2.0.0", ""},
		{"in JSON, only terraform", map[string]string{"main.tf.json": `{"terraform": {"required_providers": {"cloud": "~> 1.0"}}}`}, request{Project: installer.Project{Tools: onlyTerraform}}, "registry.terraform.io/hashicorp/cloud 1.5.0", ""},
		{"with its host, only terraform", map[string]string{"main.tf": required(`cloud = { source = "registry.opentofu.org/hashicorp/cloud" }`)}, request{Project: installer.Project{Tools: onlyTerraform}}, "registry.opentofu.org/hashicorp/cloud 2.0.0", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, only := range []bool{false, true} {
				if only && strings.Contains(row.files["main.tf"], "module") {
					continue // InstallProviders needs installed modules
				}
				var warnings []string
				in := with(w.in, func(o *installer.Options) {
					o.OnEvent = func(ev installer.Event) {
						if warning, ok := ev.(event.Warning); ok && warning.Kind == event.WarningDialectAssumed {
							warnings = append(warnings, warning.Message)
							if warning.Range.Filename != "main.tf" || warning.Range.Start.Line != 3 {
								t.Errorf("the warning is at %s, want main.tf:3", warning.Range)
							}
						}
					}
				})
				req := row.req
				req.Dir, req.Scope = w.project(t, row.files), installer.ScopeAll
				if only {
					req.Scope = installer.ScopeProviders
				}
				result, err := in.Install(t.Context(), req.Project, req.InstallOptions)
				testenv.Must(t, err)
				if got := w.versionsOf(result.Providers); got != row.want {
					t.Errorf("installed %q, want %q", got, row.want)
				}
				warned := strings.Join(warnings, "\n")
				if row.warns == "" && warned != "" || len(warnings) > 1 || !strings.Contains(warned, row.warns) {
					t.Errorf("it warns %q, want %q", warned, row.warns)
				}
			}
		})
	}
}

const (
	lockedCloud = "provider \"registry.terraform.io/hashicorp/cloud\" {\n  version = \"1.0.0\"\n}\n"
	movedCloud  = "registry.opentofu.org/hashicorp/cloud: 1.0.0 -> 1.0.0 from registry.terraform.io/hashicorp/cloud"
	goneCloud   = "registry.terraform.io/hashicorp/cloud: 1.0.0 -> "
)

var lockOfTerraformCases = []struct {
	name   string
	config string
	lock   string
	change func(*request)
	want   string // the changes of the lock, or a part of the error
}{
	{"the version stays", required(hostlessCloud), lockedCloud, nil, movedCloud + "; " + goneCloud},
	{"with a constraint", required(`cloud = { source = "hashicorp/cloud", version = "~> 1.0" }`), lockedCloud, nil, movedCloud + "; " + goneCloud},
	{"a constraint excludes it", required(`cloud = { source = "hashicorp/cloud", version = "~> 1.1" }`), lockedCloud, nil,
		`registry.opentofu.org/hashicorp/cloud: 1.0.0 -> 1.5.0 from registry.terraform.io/hashicorp/cloud, not "~> 1.1" (main.tf:3); ` + goneCloud},
	{"tofu's entry comes first", required(hostlessCloud), lockedProvider("registry.opentofu.org/hashicorp/cloud", "1.5.0") + lockedCloud, nil,
		"registry.opentofu.org/hashicorp/cloud: 1.5.0 -> 1.5.0; " + goneCloud},
	{"another namespace", required(`disk = { source = "acme/disk" }`), lockedProvider("registry.terraform.io/acme/disk", "1.0.0"), nil,
		"registry.opentofu.org/acme/disk:  -> 2.0.0; registry.terraform.io/acme/disk: 1.0.0 -> "},
	{"another host", required(`disk = { source = "HOST/hashicorp/cloud" }`), lockedCloud, nil, "HOST/hashicorp/cloud:  -> 2.0.0; " + movedCloud + "; " + goneCloud},
	{"terraform's registry by name", required(`cloud = { source = "registry.terraform.io/hashicorp/cloud" }`), lockedCloud, nil,
		"registry.terraform.io/hashicorp/cloud: 1.0.0 -> 1.0.0"},
	{"both by name", required(hostlessCloud, `other = { source = "registry.terraform.io/hashicorp/cloud" }`), lockedCloud, nil,
		movedCloud + "; registry.terraform.io/hashicorp/cloud: 1.0.0 -> 1.0.0"},
	{"the state may need it", "", lockedCloud + lockedProvider("registry.terraform.io/acme/disk", "1.0.0"), nil,
		"registry.opentofu.org/hashicorp/cloud: 1.0.0 -> 1.0.0 from registry.terraform.io/hashicorp/cloud; registry.terraform.io/acme/disk: 1.0.0 -> ; " + goneCloud},
	{"it is pruned", "", lockedCloud, func(req *request) { req.PruneProviders = true }, goneCloud},
	{"the state of terraform may need it", "", lockedCloud, func(req *request) { req.Dialect = installer.DialectTerraform }, "registry.terraform.io/hashicorp/cloud: 1.0.0 -> 1.0.0"},
	{"for terraform", required(hostlessCloud), lockedCloud, func(req *request) { req.Dialect = installer.DialectTerraform }, "registry.terraform.io/hashicorp/cloud: 1.0.0 -> 1.0.0"},
	{"a lock of tofu, for terraform", required(hostlessCloud), lockedProvider("registry.opentofu.org/hashicorp/cloud", "1.0.0"),
		func(req *request) { req.Dialect = installer.DialectTerraform },
		"registry.opentofu.org/hashicorp/cloud: 1.0.0 -> 1.0.0; registry.terraform.io/hashicorp/cloud:  -> 2.0.0"},
	{"a lock of tofu, for terraform, and it is pruned", required(hostlessCloud), lockedProvider("registry.opentofu.org/hashicorp/cloud", "1.0.0"),
		func(req *request) { req.Dialect, req.PruneProviders = installer.DialectTerraform, true },
		"registry.opentofu.org/hashicorp/cloud: 1.0.0 -> ; registry.terraform.io/hashicorp/cloud:  -> 2.0.0"},
	{"all are updated", required(hostlessCloud), lockedCloud, func(req *request) { req.Update.All = true },
		"registry.opentofu.org/hashicorp/cloud: 1.0.0 -> 2.0.0 from registry.terraform.io/hashicorp/cloud; " + goneCloud},
	{"one is updated", required(hostlessCloud), lockedCloud, func(req *request) { req.Update.Providers = []string{"hashicorp/cloud"} },
		"registry.opentofu.org/hashicorp/cloud: 1.0.0 -> 2.0.0 from registry.terraform.io/hashicorp/cloud; " + goneCloud},
	{"only the lock", required(hostlessCloud), lockedCloud, func(req *request) { req.LockOnly = true }, movedCloud + "; " + goneCloud},
	{"a dry run", required(hostlessCloud), lockedCloud, func(req *request) { req.DryRun = true }, movedCloud + "; " + goneCloud},
	{"in another file than the modules", required(hostlessCloud), lockedCloud, func(req *request) { req.LockFile = ".cotter.lock.hcl" }, movedCloud + "; " + goneCloud},
	{"a lock that may not change", required(hostlessCloud), lockedCloud, func(req *request) { req.Locked = true },
		"provider hashicorp/cloud (main.tf:3): the lock has version 1.0.0 from registry.terraform.io, and tofu takes it from registry.opentofu.org; the lock would get an entry for that"},
	{"a lock that may not change and does not fit", required(`cloud = { source = "hashicorp/cloud", version = "~> 1.1" }`), lockedCloud, func(req *request) { req.Locked = true },
		`the lock has version 1.0.0, and the configuration asks for "~> 1.1"`},
	{"a version that the registry does not have", required(hostlessCloud), lockedProvider("registry.terraform.io/hashicorp/cloud", "1.1.0"), nil, "1.1.0"},
	{"offline", required(hostlessCloud), lockedCloud, func(req *request) { req.Offline = true }, "offline mode is set"},
}

// In tofu's dialect, the versions that terraform has locked for hashicorp's providers are the locked
// ones.
func TestLockOfTerraform(t *testing.T) {
	t.Parallel()
	w := newStockWorld(t, stockVersions)
	for _, row := range lockOfTerraformCases {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			in := with(w.in, func(o *installer.Options) { o.OnEvent, o.CacheDir = nil, t.TempDir() })
			req := request{Project: installer.Project{Dir: w.project(t, map[string]string{"main.tf": row.config, ".terraform.lock.hcl": row.lock}), Dialect: installer.DialectOpenTofu}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
			if row.change != nil {
				row.change(&req)
			}
			result, err := in.Install(t.Context(), req.Project, req.InstallOptions)
			got := w.plain(errorText(err))
			if err == nil {
				got = w.changesOf(result.ProviderChanges)
			}
			if got != row.want && (err == nil || !strings.Contains(got, row.want)) {
				t.Errorf("got %q,\nwant %q", got, row.want)
			}
			if err == nil && !req.DryRun {
				again, err := in.Install(t.Context(), installer.Project{Dir: req.Dir, Dialect: req.Dialect, LockFile: req.LockFile}, installer.InstallOptions{LockOnly: req.LockOnly, Offline: true, Scope: installer.ScopeAll})
				if err != nil || len(again.ProviderChanges) > 0 {
					t.Errorf("a second run = %+v, %v; want no changes", again, err)
				}
			}
		})
	}
}

// changesOf returns changes of provider entries: "ADDRESS: OLD -> NEW from ADDRESS, not CONSTRAINT".
func (w *providerWorld) changesOf(changes []installer.ProviderChange) string {
	var list []string
	for _, change := range changes {
		text := change.Provider.String() + ": " + change.Old.String() + " -> " + change.New.String()
		if change.From != (addrs.Provider{}) {
			text += " from " + change.From.String()
		}
		for _, use := range change.ExcludedBy {
			text += ", not \"" + use.Constraint + "\" (main.tf:3)"
			if use.Range.Filename != "main.tf" || use.Range.Start.Line != 3 {
				text += " at another place"
			}
		}
		list = append(list, w.plain(text))
	}
	return strings.Join(list, "; ")
}

// The queries take over the versions too.
func TestQueriesOnLockOfTerraform(t *testing.T) {
	t.Parallel()
	w := newStockWorld(t, stockVersions)
	dir := w.project(t, map[string]string{"main.tf": required(hostlessCloud)})
	req := request{Project: installer.Project{Dir: dir, Dialect: installer.DialectTerraform}}
	if _, err := installProviders(t.Context(), w.in, req); err != nil {
		t.Fatal(err)
	}
	if report, err := w.in.Verify(t.Context(), req.Project, installer.VerifyOptions{}); err != nil || !report.OK() {
		t.Errorf("Verify for terraform = %+v, %v; want success", report, err)
	}
	req.Dialect = installer.DialectOpenTofu
	report, err := w.in.Verify(t.Context(), req.Project, installer.VerifyOptions{})
	testenv.Must(t, err)
	const stale = "the lock has version 2.0.0 from registry.terraform.io, and tofu takes it from registry.opentofu.org"
	if len(report.Stale) != 1 || !strings.Contains(report.Stale[0].Error(), stale) {
		t.Errorf("the lock is stale because of %v, want %q", report.Stale, stale)
	}
	loaded, err := loadProviders(t.Context(), w.in, req)
	if err != nil || w.versionsOf(loaded) != "registry.opentofu.org/hashicorp/cloud 2.0.0" || loaded[0].LockedAs.String() != "registry.terraform.io/hashicorp/cloud" {
		t.Errorf("Load = %+v, %v", loaded, err)
	}
	outdated, err := outdatedProviders(t.Context(), w.in, req)
	if err != nil || len(outdated) != 1 || outdated[0].Current.String() != "2.0.0" {
		t.Errorf("OutdatedProviders = %+v, %v", outdated, err)
	}
}
