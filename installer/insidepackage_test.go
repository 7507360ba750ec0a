package installer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

const insidePackage = `
-- config/main.tf --
module "all" {
  source = "git::https://MODTEST_HOST/git/all.git?ref=v1.0.0"
}
module "net" {
  source = "./.terraform/modules/all/net"
}
-- git/all.git/v1.0.0/main.tf --
-- git/all.git/v1.0.0/net/main.tf --
module "sub" {
  source = "../sub"
}
-- git/all.git/v1.0.0/sub/main.tf --
`

// A local path may lead into the package of another call. The hash of that package covers the
// module, in every kind of run.
func TestPathsIntoPackages(t *testing.T) {
	t.Parallel()
	p := world(t, insidePackage)
	p.mustInstall(t, request{})
	result, err := p.installer().Load(t.Context(), installer.Project{Dir: p.dir}, installer.LoadOptions{})
	testenv.Must(t, err)
	var got []string
	for _, m := range result.Modules {
		got = append(got, m.Path.String()+" "+m.Dir)
	}
	want := []string{"all .terraform/modules/all", "net .terraform/modules/all/net", "net.sub .terraform/modules/all/sub"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	if lock := p.file(".terraform.lock.hcl"); strings.Count(lock, "module \"") != 1 {
		t.Errorf("the lock has more than the package:\n%s", lock)
	}
	p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
	p.write(t, ".terraform/modules/all/sub/main.tf", "# changed\n")
	if report, err := p.installer().Verify(t.Context(), installer.Project{Dir: p.dir}, installer.VerifyOptions{}); err != nil || report.OK() {
		t.Errorf("Verify of a changed package = %+v, %v; want a difference", report, err)
	}
	p.remove(t, ".terraform")
	p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
	p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
}

// If the package cannot be installed, only that is reported.
func TestPathsIntoMissingPackages(t *testing.T) {
	t.Parallel()
	p := world(t, strings.Replace(insidePackage, "v1.0.0\"", "v2.0.0\"", 1))
	err := p.mustFail(t, request{})
	if text := err.Error(); !strings.Contains(text, "v2.0.0") || strings.Contains(text, "module net") {
		t.Errorf("Install = %v, want only the failure of the package", err)
	}
	p = world(t, strings.Replace(insidePackage, "modules/all/net", "modules/other/net", 1))
	if err := p.mustFail(t, request{}); !strings.Contains(err.Error(), "unreadable module directory") {
		t.Errorf("Install = %v, want the path that does not exist", err)
	}
}
