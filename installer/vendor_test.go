package installer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/repository"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

const vendorWorld = `
-- config/main.tf --
module "network" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = "1.0.0"
}
-- registry/acme/network/aws/1.0.0/main.tf --
module "zone" {
  source = "./zone"
}
-- registry/acme/network/aws/1.0.0/zone/main.tf --
# zone
`

// newVendored returns a project in a git repository with its packages in vendor/modules, in the
// state after a fresh clone.
func newVendored(t *testing.T) (*project, request) {
	t.Helper()
	p := world(t, vendorWorld)
	testenv.Must(t, os.Mkdir(filepath.Join(p.dir, ".git"), 0o755))
	p.mustInstall(t, request{})
	req := request{Project: installer.Project{Dir: p.dir, Vendor: "vendor/modules"}}
	result, err := p.installer().Install(context.Background(), req.Project, req.InstallOptions)
	testenv.Must(t, err)
	want := []installer.VendorChange{{Path: addrs.Module{"network"}, Dir: "vendor/modules/network", Kind: "added"}}
	if diff := cmp.Diff(want, result.Vendored); diff != "" {
		t.Errorf("what Install has vendored (-want +got):\n%s", diff)
	}
	p.remove(t, ".terraform")
	p.state = t.TempDir()
	return p, req
}

// forge changes a vendored file and its hashes in the lock, as a malicious commit could.
func (p *project) forge(t *testing.T) {
	t.Helper()
	p.write(t, "vendor/modules/network/zone/main.tf", "# evil\n")
	p.forgeHashes(t, os.DirFS(filepath.Join(p.dir, "vendor/modules/network")))
}

// TestVendoredConfirmsNothing checks that installing a vendored package does not confirm its
// entry for other uses, because a commit can change both the package and the lock.
func TestVendoredConfirmsNothing(t *testing.T) {
	t.Parallel()
	p, req := newVendored(t)
	p.forge(t)
	ctx := context.Background()
	p.world.ResetRequests()
	for range 2 { // the second run finds the files of the first one
		if _, err := p.installer().Install(ctx, req.Project, req.InstallOptions); err != nil {
			t.Fatalf("Install of what the commit has: %v", err)
		}
	}
	p.mustVerify(t, req)
	if n := len(p.world.Requests()); n > 0 {
		t.Errorf("%d requests for what is vendored", n)
	}
	var mismatch *installer.HashMismatchError
	if _, err := p.installer().Install(ctx, installer.Project{Dir: p.dir}, installer.InstallOptions{}); !errors.As(err, &mismatch) {
		t.Errorf("Install without Vendor = %v, want a *HashMismatchError", err)
	}
	use := installer.LockedFuncs{Module: func(context.Context, installer.LockedModule) error { return errors.New("it was used") }}
	if err := p.installer().LockedPackages(ctx, []installer.Project{req.Project}, installer.LockedOptions{}, use); !errors.As(err, &mismatch) {
		t.Errorf("LockedPackages = %v, want a *HashMismatchError", err)
	}
	p.write(t, "vendor/modules/network/zone/main.tf", "# worse\n")
	if _, err := p.installer().Install(ctx, req.Project, req.InstallOptions); !errors.As(err, &mismatch) {
		t.Errorf("Install that writes the package = %v, want a *HashMismatchError", err)
	}
	if got := p.file("vendor/modules/network/zone/main.tf"); got != "# worse\n" {
		t.Errorf("a run that failed has changed the vendored file to %q", got)
	}
}

// A run that may change the lock writes vendored packages that do not match it. A dry run says so, and
// one with LockOnly writes them too.
func TestVendorWrites(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *project) installer.VendorChange{
		"changed": func(t *testing.T, p *project) installer.VendorChange {
			t.Helper()
			p.write(t, "vendor/modules/network/zone/main.tf", "# evil\n")
			return installer.VendorChange{Path: addrs.Module{"network"}, Dir: "vendor/modules/network", Kind: "changed"}
		},
		"missing": func(t *testing.T, p *project) installer.VendorChange {
			t.Helper()
			p.remove(t, "vendor/modules/network")
			return installer.VendorChange{Path: addrs.Module{"network"}, Dir: "vendor/modules/network", Kind: "added"}
		},
	} {
		for _, lockOnly := range []bool{false, true} {
			p, req := newVendored(t)
			req.LockOnly = lockOnly
			want := []installer.VendorChange{change(t, p)}
			for _, dry := range []bool{true, false} {
				before := p.file("vendor/modules/network/zone/main.tf")
				req.DryRun = dry
				result, err := p.installer().Install(t.Context(), req.Project, req.InstallOptions)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if diff := cmp.Diff(want, result.Vendored); diff != "" {
					t.Errorf("%s: what was vendored, dry run %t (-want +got):\n%s", name, dry, diff)
				}
				wanted := before
				if !dry {
					wanted = "# zone\n"
				}
				if got := p.file("vendor/modules/network/zone/main.tf"); got != wanted {
					t.Errorf("%s: the file is %q after a run with DryRun %t, want %q", name, got, dry, wanted)
				}
			}
			req.DryRun = false
			p.mustVerify(t, request{Project: installer.Project{Dir: p.dir, Vendor: req.Vendor}})
			p.world.ResetRequests()
			result, err := p.installer().Install(t.Context(), req.Project, req.InstallOptions)
			if err != nil || len(result.Vendored) > 0 || len(p.world.Requests()) > 0 {
				t.Errorf("%s: the next run has vendored %v with %d requests, %v", name, result.Vendored, len(p.world.Requests()), err)
			}
		}
	}
}

func TestVendorErrors(t *testing.T) {
	t.Parallel()
	p, req := newVendored(t)
	req.Locked = true
	p.write(t, "vendor/modules/network/zone/main.tf", "# evil\n")
	var changed *installer.VendorError
	_, err := p.installer().Install(context.Background(), req.Project, req.InstallOptions)
	if !errors.As(err, &changed) || !strings.Contains(err.Error(), `changed: "vendor/modules/network/zone/main.tf"`) {
		t.Errorf("Install of a changed package = %v", err)
	}
	p.remove(t, "vendor")
	if _, err = p.installer().Install(context.Background(), req.Project, req.InstallOptions); !errors.As(err, &changed) || changed.Package.Status != installer.StatusMissing {
		t.Errorf("Install of a missing package = %v", err)
	}
	if p.file(".terraform/modules/modules.json") != "" {
		t.Error("a run that failed has installed something")
	}
	req.Vendor = "../vendor"
	if _, err = p.installer().Install(context.Background(), req.Project, req.InstallOptions); err == nil || !strings.Contains(err.Error(), "outside the repository") {
		t.Errorf("Install with a directory outside the repository = %v", err)
	}
}

// TestVendoredFormer checks that a vendored package that no longer belongs to the lock has changed, even if it
// is what this user's last run installed: it is a part of the same commit as the lock.
func TestVendoredFormer(t *testing.T) {
	t.Parallel()
	p, req := newVendored(t)
	_, err := p.installer().Install(t.Context(), req.Project, req.InstallOptions)
	testenv.Must(t, err)
	p.forgeHashes(t, os.DirFS(filepath.Join(p.dir, "vendor/modules/network/zone")))
	p.editEntry(t, func(entry *lockfile.Module) { entry.Version = versions.MustParse("1.5.0") })
	report, err := p.installer().Verify(t.Context(), req.Project, installer.VerifyOptions{})
	if err != nil || len(report.Packages) != 1 {
		t.Fatalf("Verify = %+v, %v", report, err)
	}
	got := report.Packages[0]
	if got.Status != installer.StatusChanged || got.Vendored != "vendor/modules/network" || !got.Former.Version.IsZero() {
		t.Errorf("Verify = %+v; want a vendored package that has changed, and no former one", got)
	}
}

// TestVendorChangedRoots checks that a root module is affected by changes in its vendored
// packages, even if these are outside of its directory.
func TestVendorChangedRoots(t *testing.T) {
	t.Parallel()
	p := world(t, vendorWorld)
	p.write(t, "root/main.tf", "")
	p.write(t, "other/main.tf", "")
	testenv.Must(t, os.Mkdir(filepath.Join(p.dir, ".git"), 0o755))
	dirs := []string{filepath.Join(p.dir, "other"), filepath.Join(p.dir, "root")}
	files := []string{filepath.Join(p.dir, "vendor/network/main.tf")}
	got, err := repository.ChangedRoots(context.Background(), p.installer(), dirs, files, installer.Project{Vendor: "../vendor"})
	if err != nil || len(got) != 2 {
		t.Errorf("ChangedRoots = %q, %v; want both", got, err)
	}
	if got, err = repository.ChangedRoots(context.Background(), p.installer(), dirs, files, installer.Project{}); err != nil || len(got) > 0 {
		t.Errorf("ChangedRoots without Vendor = %q, %v; want none", got, err)
	}
}
