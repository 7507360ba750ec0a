package installer_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

// If no module requires a provider in the lock, its entry stays with a warning, and it is installed, or it is
// dropped by PruneProviders.
func TestLockEntryWithoutModule(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, `
-- providers/acme/old/1.0.0/PLATFORM/terraform-provider-old --
1.0.0
-- providers/acme/old/2.0.0-rc.1/PLATFORM/terraform-provider-old --
2.0.0-rc.1
`, modtest.Options{})
	const main, backend = "output \"x\" {\n  value = 1\n}\n", "terraform {\n  backend \"s3\" {}\n}\n"
	const warning = "the lock has providers that no module requires; they stay, because the state may need them: HOST/acme/old"
	for _, row := range []struct {
		name    string
		config  string
		version string // the version in the lock
		change  func(*request)
		want    string
		warning string
	}{
		{"without a backend", main, "1.0.0", nil, "HOST/acme/old 1.0.0", warning},
		{"with a backend", backend, "1.0.0", nil, "HOST/acme/old 1.0.0", warning},
		{"a pre-release", backend, "2.0.0-rc.1", nil, "HOST/acme/old 2.0.0-rc.1", warning},
		{"all are updated", main, "2.0.0-rc.1", func(r *request) { r.Update.All = true }, "HOST/acme/old 2.0.0-rc.1", warning},
		{"it is pruned", main, "1.0.0", func(r *request) { r.Scope = installer.ScopeAll; r.PruneProviders = true }, "", ""},
		{"it is pruned, and the lock may not change", main, "1.0.0", func(r *request) { r.Scope = installer.ScopeAll; r.PruneProviders, r.Locked = true, true }, "the lock has an entry for it, but no module requires it", ""},
	} {
		t.Run(row.name, func(t *testing.T) { // not parallel, because the rows share the warnings
			req := request{Project: installer.Project{Dir: w.project(t, map[string]string{"main.tf": row.config, ".terraform.lock.hcl": lockedProvider("HOST/acme/old", row.version)})}}
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
