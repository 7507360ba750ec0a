package installer_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

// A package has the same h1 and t1 from every origin and every kind of registry, regardless of the user's git
// settings. So a lock that was made with one origin can verify the others.
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
# This file is never downloaded: the registry gives the address of the OCI artifact.
`)
	for _, dir := range []string{"git/net.git/v1.0.0", "oci/net/1.0.0", "registry/acme/net/aws/1.0.0", "archives/net.tar.gz", "archives/net.zip"} {
		fmt.Fprintf(&text, "-- %[1]s/main.tf --\n# $Id$\noutput \"id\" {\n  value = \"net\"\n}\n"+
			"-- %[1]s/zone/README.md --\nzone\n"+
			"-- %[1]s/.gitattributes --\n* -text -ident filter=shout export-subst\n", dir)
	}
	want := []hashing.Hash{"h1:3xKFwDWk0m9aqA2VJNfddsW1VUAFcXCpaTkjBuECeZQ=", "t1:648/wszELUHk7SdNGhMybAAHep6pZscU9YcOk/cPLBM="}
	for name, opts := range map[string]modtest.Options{
		"git":             {},
		"annotated tags":  {AnnotatedTags: true},
		"old git server":  {RefuseCommits: true},
		"archives":        {Archives: true},
		"header only":     {HeaderLocations: true},
		"hosted":          {Hosted: true},
		"archives, busy":  {FailFirst: 1, Archives: true},
		"git, busy":       {FailFirst: 1},
		"old and archive": {HeaderLocations: true, Archives: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, txtar.Parse([]byte(text.String())), opts)
			p.world.SetFaults(modtest.Fault{
				Path:   "/v1/modules/acme/led/aws/1.0.0/download",
				Status: http.StatusNoContent,
				Header: http.Header{"X-Terraform-Get": {"oci://MODTEST_HOST/net?tag=1.0.0"}},
			})
			in := p.installer()
			p.write(t, "../gitconfig", "[core]\n\tautocrlf = true\n\teol = crlf\n[filter \"shout\"]\n\tsmudge = tr a-z A-Z\n\trequired = true\n")
			fetcher := in.Options().Fetcher.(*getmodules.Fetcher)
			fetcher.Git.Env = append(fetcher.Git.Env, "GIT_CONFIG_GLOBAL="+filepath.Join(p.dir, "../gitconfig"))
			for _, locked := range []bool{false, true} {
				p.remove(t, ".terraform")
				result := mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: locked})
				for _, m := range result.Modules {
					if diff := cmp.Diff(want, m.Hashes[:2]); diff != "" {
						t.Errorf("hashes of %s (-want +got):\n%s", m.Path, diff)
					}
				}
				if len(result.Modules) != 6 {
					t.Errorf("%d modules, want 6", len(result.Modules))
				}
			}
			if n := strings.Count(p.events(), "HashVerified{Path:"); n != 6 {
				t.Errorf("the second install has verified %d modules by the lock, want 6", n)
			}
		})
	}
}
