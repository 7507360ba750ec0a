package installer_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// A package has the same h1 and t1 from every origin, regardless of the user's git settings. So
// a lock that was made with one origin can verify the others.
func TestOriginsAgree(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`
-- config/main.tf --
module "git" {
  source = "git::https://MODTEST_HOST/git/net.git?version=~> 1.0"
}
module "oci" {
  source = "oci://MODTEST_HOST/net?version=~> 1.0"
}
module "registry" {
  source = "MODTEST_HOST/acme/net/aws"
}
module "registry_oci" {
  source = "MODTEST_HOST/acme/led/aws"
}
module "tar" {
  source = "https://MODTEST_HOST/archives/net.tar.gz"
}
module "zip" {
  source = "https://MODTEST_HOST/archives/net.zip"
}
-- registry/acme/led/aws/1.0.0/main.tf --
# The registry leads elsewhere.
`)
	for _, dir := range []string{"git/net.git/v1.0.0", "oci/net/1.0.0", "registry/acme/net/aws/1.0.0", "archives/net.tar.gz", "archives/net.zip"} {
		fmt.Fprintf(&text, "-- %[1]s/main.tf --\n# $Id$\noutput \"id\" {\n  value = \"net\"\n}\n"+
			"-- %[1]s/zone/README.md --\nzone\n"+
			"-- %[1]s/.gitattributes --\n* -text -ident filter=shout export-subst\n", dir)
	}
	p := world(t, text.String())
	p.world.SetFaults(modtest.Fault{
		Path:   "/v1/modules/acme/led/aws/1.0.0/download",
		Status: http.StatusNoContent,
		Header: http.Header{"X-Terraform-Get": {"oci://MODTEST_HOST/net?tag=1.0.0"}},
	})
	in := p.installer()
	p.write(t, "../gitconfig", "[core]\n\tautocrlf = true\n\teol = crlf\n[filter \"shout\"]\n\tsmudge = tr a-z A-Z\n\trequired = true\n")
	fetcher := in.Options().Fetcher.(*getmodules.Fetcher)
	fetcher.Git.Env = append(fetcher.Git.Env, "GIT_CONFIG_GLOBAL="+filepath.Join(p.dir, "../gitconfig"))
	result, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	testenv.Must(t, err)
	want := result.Modules[0].Hashes[:2]
	for _, m := range result.Modules {
		if diff := cmp.Diff(want, m.Hashes[:2]); diff != "" {
			t.Errorf("hashes of %s and of %s (-first +this):\n%s", result.Modules[0].Path, m.Path, diff)
		}
	}
	if len(result.Modules) != 6 {
		t.Errorf("%d modules, want 6", len(result.Modules))
	}
}

// A private registry receives the credentials that the Fetcher finds. They are not written
// anywhere.
func TestOCICredentials(t *testing.T) {
	t.Parallel()
	const password = "canary-of-the-password"
	p := newProject(t, txtar.Parse([]byte(`
-- config/main.tf --
module "net" {
  source = "oci://MODTEST_HOST/team/net?version=~> 1.0"
}
-- oci/team%2Fnet/1.0.0/main.tf --
`)), modtest.Options{OCIUser: "robot", OCIPassword: password})
	in := p.installer()
	if _, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{}); err == nil || !strings.Contains(err.Error(), "none are known") {
		t.Errorf("Install without credentials = %v, want an error that says so", err)
	}
	var asked []string
	in.Options().Fetcher.(*getmodules.Fetcher).OCICredentials = getmodules.OCICredentials(
		func(_ context.Context, host, repository string) (getmodules.OCICredential, error) {
			asked = append(asked, host+"/"+repository)
			return getmodules.OCICredential{Username: "robot", Password: password}, nil
		})
	mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if want := string(p.world.Host()) + "/team/net"; !slices.Contains(asked, want) {
		t.Errorf("credentials were asked for %q, want %q", asked, want)
	}
	for name, text := range snapshot(t, p.dir) {
		if strings.Contains(text, password) {
			t.Errorf("the password is in %s", name)
		}
	}
	if strings.Contains(p.events(), password) {
		t.Error("the password is in the events")
	}
}
