package installer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// Checked-out repositories can be compared without anything that they refer to.
func TestCorpusOfRepositories(t *testing.T) {
	t.Parallel()
	if platform := addrs.CurrentPlatform().String(); platform != "linux_amd64" {
		t.Skipf("stock tools do not trust the world on %s", platform)
	}
	dir := writeProject(t, map[string]string{
		"acme+infra/prod/main.tf": `
terraform {
  required_version = "0.0.1"
  required_providers {
    cloud = {
      source                = "registry.acme.test/acme/cloud"
      version               = "~> 3.1"
      configuration_aliases = [cloud.west]
    }
  }
  backend "s3" {}
}
resource "aws_thing" "a" {}
module "app" {
  source = "../app"
}
module "net" {
  source = "git::ssh://git@git.acme.test/acme/net.git//sub?ref=0123456789012345678901234567890123456789"
}
module "tag" {
  source = "git::https://git.acme.test/acme/net//sub?ref=v1.0.0"
}
module "label" {
  source  = "registry.acme.test/acme/label/null//sub"
  version = "~> 0.25.1"
}
`,
		"acme+infra/prod/.terraform.lock.hcl":   lockedWithHashes,
		"acme+infra/app/main.tf":                "resource \"cloud_thing\" \"a\" {}\nterraform {\n  required_providers {\n    cloud = { source = \"registry.acme.test/acme/cloud\" }\n  }\n}\n",
		"acme+terraform-null-label/sub/main.tf": "variable \"a\" {}\nmodule \"other\" {\n  source = \"../other\"\n}\n",
		"acme+terraform-null-label/other/x.tf":  "",
	}, "")
	counts := testRepositories(t, dir, 1)
	t.Cleanup(func() {
		if diff := cmp.Diff(counts.roots, counts.bothSucceed); diff != "" || len(counts.roots) == 0 {
			t.Errorf("%s", counts)
		}
	})
}

const lockedWithHashes = `# A comment that stays.

provider "registry.acme.test/acme/cloud" {
  version     = "3.1.4"
  constraints = "~> 3.1"
  hashes = [
    "h1:one=",
    "zh:0000",
    "zh:1111",
  ]
}
`

// The hashes of made-up packages take the places of the real ones.
func TestMadeUpHashes(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(""), modtest.Options{MadeUp: true})
	testenv.Must(t, world.MakeUpProvider("acme/cloud", "3.1.4"))
	for _, foreign := range []bool{false, true} {
		hasH1 := map[string]bool{"linux_amd64": !foreign, "darwin_arm64": foreign}
		got := string(withMadeUpHashes(world, []byte(lockedWithHashes), foreign))
		for _, platform := range []string{"linux_amd64", "darwin_arm64"} {
			h1, zh, err := world.ProviderHashes("acme/cloud", "3.1.4", platform)
			if err != nil || strings.Contains(got, string(h1)) != hasH1[platform] || !strings.Contains(got, string(zh)) {
				t.Errorf("foreign %v: %v; want the h1 of one platform and the zh of both:\n%s", foreign, err, got)
			}
		}
		if diff := cmp.Diff(len(strings.Split(lockedWithHashes, "\n")), len(strings.Split(got, "\n"))); diff != "" {
			t.Errorf("the number of lines differs:\n%s", got)
		}
	}
}
