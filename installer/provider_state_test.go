package installer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

func state(provider string) string {
	return `{"version": 4, "resources": [{"mode": "managed", "type": "old_thing", "name": "a", "provider": "` + strings.ReplaceAll(provider, `"`, `\"`) + `", "instances": []}]}`
}

// Each row has providers that no module requires. The expected text lists those that are
// installed nevertheless, or is a part of the error.
func TestProvidersOfStateAndLock(t *testing.T) {
	t.Parallel()
	const old = `provider["reg.example.com/acme/old"]`
	lock := lockedProvider("reg.example.com/acme/old", "1.0.0")
	backend := "terraform {\n  backend \"s3\" {}\n}\n"
	for _, row := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", nil, ""},
		{"a lock", map[string]string{".terraform.lock.hcl": lock}, ""},
		{"a state", map[string]string{"terraform.tfstate": state(old)}, "reg.example.com/acme/old"},
		{"a state without a host", map[string]string{"terraform.tfstate": state(`provider["acme/old"]`)}, "acme/old"},
		{"a state and a lock", map[string]string{"terraform.tfstate": state(old), ".terraform.lock.hcl": lock}, "reg.example.com/acme/old 1.0.0"},

		{"a backend and a lock", map[string]string{"main.tf": backend, ".terraform.lock.hcl": lock}, "reg.example.com/acme/old 1.0.0"},
		{"a backend and a state that is left over", map[string]string{"main.tf": backend, "terraform.tfstate": state(old)}, ""},

		{"an encrypted state and a lock", map[string]string{"terraform.tfstate": `{"serial": 1, "encrypted_data": "x", "encryption_version": "v0"}`, ".terraform.lock.hcl": lock}, "reg.example.com/acme/old 1.0.0"},

		{"the state of a workspace", map[string]string{".terraform/environment": "prod\n", "terraform.tfstate.d/prod/terraform.tfstate": state(old)}, "reg.example.com/acme/old"},

		{"a local backend with a path and a lock", map[string]string{"main.tf": "terraform {\n  backend \"local\" {\n    path = \"states/a\"\n  }\n}\n", "states/a": state(`provider["reg.example.com/acme/new"]`), ".terraform.lock.hcl": lock}, "reg.example.com/acme/new"},

		{"Terraform's registry in a configuration", map[string]string{"terraform.tfstate": state(`provider["registry.terraform.io/acme/old"]`), "main.tf": "terraform {\n  required_providers {\n    x = {\n      source = \"registry.terraform.io/acme/old\"\n    }\n  }\n}\n"}, "registry.terraform.io/acme/old"},

		{"a legacy address", map[string]string{"terraform.tfstate": state(`provider.old`)}, `terraform.tfstate: legacy provider address in the state: resource "old_thing.a" has "provider.old"`},
		{"a legacy address in a module", map[string]string{"terraform.tfstate": state(`module.a.provider.old.west`)}, `has "module.a.provider.old.west"`},
		{"a legacy address with a host", map[string]string{"terraform.tfstate": state(`provider["registry.opentofu.org/-/old"]`)}, `-/old`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := writeProject(t, row.files, "")
			found, err := loadProviders(t.Context(), (installer.New(installer.Options{})), request{Project: installer.Project{Dir: dir}})
			if err != nil {
				if !errors.Is(err, installer.ErrLegacyProvider) || row.want == "" || !strings.Contains(err.Error(), row.want) {
					t.Errorf("Load = %v, want %q", err, row.want)
				}
				return
			}
			var got []string
			for _, p := range found {
				got = append(got, strings.TrimSpace(p.Address.ForDisplay()+" "+p.Version.String()))
			}
			if text := strings.Join(got, ", "); text != row.want {
				t.Errorf("Load = %q, want %q", text, row.want)
			}
		})
	}
}

// TF_DATA_DIR is the directory that records the workspace and the backend.
func TestStateByDataDir(t *testing.T) {
	t.Parallel()
	lock := lockedProvider("reg.example.com/acme/old", "1.0.0")
	for name, files := range map[string]map[string]string{
		"a former backend": {"data/terraform.tfstate": `{"version": 3, "backend": {"type": "s3"}}`},
		"a workspace":      {"data/environment": "prod", "terraform.tfstate.d/prod/terraform.tfstate": state(`provider["reg.example.com/acme/old"]`)},
	} {
		files[".terraform.lock.hcl"] = lock
		req := request{Project: installer.Project{Dir: writeProject(t, files, ""), DataDir: "data"}}
		found, err := loadProviders(t.Context(), (installer.New(installer.Options{})), req)
		if err != nil || len(found) != 1 {
			t.Errorf("%s: Load = %+v, %v, want one provider", name, found, err)
		}
		req.DataDir = ""
		if found, err = loadProviders(t.Context(), (installer.New(installer.Options{})), req); err != nil || len(found) != 0 {
			t.Errorf("%s in another directory: Load = %+v, %v, want none", name, found, err)
		}
	}
}

// A state of Terraform needs providers of OpenTofu's registry in the tofu dialect, unless the
// request says that the addresses stay.
func TestStateOfTerraform(t *testing.T) {
	t.Parallel()
	for want, req := range map[string]request{
		"registry.opentofu.org/acme/old":  {Project: installer.Project{Dialect: installer.DialectOpenTofu}},
		"registry.terraform.io/acme/old":  {Project: installer.Project{Dialect: installer.DialectTerraform}},
		"registry.terraform.io/acme/old ": {Project: installer.Project{Dialect: installer.DialectOpenTofu, KeepStateAddresses: true}},
	} {
		req.Dir = writeProject(t, map[string]string{"main.tf": "", "terraform.tfstate": state(`provider["registry.terraform.io/acme/old"]`)}, "")
		found, err := loadProviders(t.Context(), (installer.New(installer.Options{})), req)
		if err != nil || len(found) != 1 || found[0].Address.String() != strings.TrimSpace(want) {
			t.Errorf("%v: Load = %+v, %v, want %s", req.Dialect, found, err, want)
		}
	}
}

// If a module cannot be read, it may require the provider of a state with Terraform's registry.
func TestVerifyStateWithoutModule(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{
		"main.tf":                "module \"m\" {\n  source = \"registry.example.com/acme/m/aws\"\n}\n",
		"terraform.tfstate":      state(`provider["registry.terraform.io/acme/old"]`),
		".terraform.lock.hcl":    lockedProvider("registry.terraform.io/acme/old", "1.0.0"),
		".terraform/providers/x": "",
	}, "")
	report, err := (installer.New(installer.Options{})).Verify(t.Context(), installer.Project{Dir: dir, Dialect: installer.DialectOpenTofu}, installer.VerifyOptions{})
	testenv.Must(t, err)
	for _, stale := range report.Stale {
		if strings.Contains(stale.Error(), "acme/old") {
			t.Errorf("Verify reports %v, although a module could not be read", stale)
		}
	}
	if report.OK() {
		t.Error("Verify accepts a project without its module")
	}
}

// If no module requires a provider in the lock, its entry is either dropped, or kept with a
// warning and installed.
func TestLockEntryWithoutModule(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, `
-- providers/acme/old/1.0.0/PLATFORM/terraform-provider-old --
1.0.0
-- providers/acme/old/2.0.0-rc.1/PLATFORM/terraform-provider-old --
2.0.0-rc.1
`, modtest.Options{})
	const main, backend = "output \"x\" {\n  value = 1\n}\n", "terraform {\n  backend \"s3\" {}\n}\n"
	const warning = "the lock has providers that no module requires; they stay, because the state may need them, and "
	for _, row := range []struct {
		name    string
		files   map[string]string
		version string // the version in the lock; "" if it has no entry
		change  func(*request)
		want    string
		warning string
	}{
		{"without a backend", map[string]string{"main.tf": main}, "1.0.0", nil, "", ""},
		{"without a backend, and a lock that may not change", map[string]string{"main.tf": main}, "1.0.0", func(r *request) { r.Locked = true }, "the lock has an entry for it, but no module requires it", ""},
		{"with a backend", map[string]string{"main.tf": backend}, "1.0.0", nil, "HOST/acme/old 1.0.0", warning + "a backend keeps it: HOST/acme/old"},
		{"a pre-release with a backend", map[string]string{"main.tf": backend}, "2.0.0-rc.1", nil, "HOST/acme/old 2.0.0-rc.1", warning + "a backend keeps it: HOST/acme/old"},
		{"with a backend, and all are updated", map[string]string{"main.tf": backend}, "2.0.0-rc.1", func(r *request) { r.Update.All = true }, "HOST/acme/old 2.0.0-rc.1", warning + "a backend keeps it: HOST/acme/old"},
		{"with a backend, and it is pruned", map[string]string{"main.tf": backend}, "1.0.0", func(r *request) { r.Scope = installer.ScopeAll; r.PruneProviders = true }, "", ""},
		{"with a state that cannot be read", map[string]string{"main.tf": main, "terraform.tfstate": "x"}, "1.0.0", nil, "HOST/acme/old 1.0.0", warning + "terraform.tfstate is encrypted or of another version: HOST/acme/old"},
		{"with a state that needs it", map[string]string{"main.tf": main, "terraform.tfstate": state(`provider["HOST/acme/old"]`)}, "1.0.0", nil, "HOST/acme/old 1.0.0", ""},
		{"with a state that needs it, and it is pruned", map[string]string{"main.tf": main, "terraform.tfstate": state(`provider["HOST/acme/old"]`)}, "1.0.0", func(r *request) { r.Scope = installer.ScopeAll; r.PruneProviders = true }, "HOST/acme/old 1.0.0", ""},
		{"with a state that needs it, and no entry", map[string]string{"main.tf": main, "terraform.tfstate": state(`provider["HOST/acme/old"]`)}, "", nil, "HOST/acme/old 1.0.0", ""},
		{"with a state of a legacy address", map[string]string{"main.tf": main, "terraform.tfstate": state(`provider.old`)}, "1.0.0", nil, "legacy provider address", ""},
	} {
		t.Run(row.name, func(t *testing.T) { // not parallel, because the rows share the warnings
			if row.version != "" {
				row.files[".terraform.lock.hcl"] = lockedProvider("HOST/acme/old", row.version)
			}
			req := request{Project: installer.Project{Dir: w.project(t, row.files)}}
			if row.change != nil {
				row.change(&req)
			}
			result, err := installProviders(t.Context(), w.in, req)
			warned := w.warned()
			if err != nil {
				if row.want == "" || !strings.Contains(err.Error(), row.want) {
					t.Errorf("InstallProviders = %v, want %q", err, row.want)
				}
				return
			}
			if got := w.versionsOf(result.Providers); got != row.want {
				t.Errorf("installed %q, want %q", got, row.want)
			}
			if hasEntry := strings.Contains(fileIn(t, req.Dir, ".terraform.lock.hcl"), "acme/old"); hasEntry != (row.want != "") {
				t.Errorf("the lock has the entry: %v, and %q was to be installed", hasEntry, row.want)
			}
			if warned != row.warning {
				t.Errorf("warnings %q, want %q", warned, row.warning)
			}
		})
	}
}
