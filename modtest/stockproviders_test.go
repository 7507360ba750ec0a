package modtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const platformTree = `
-- providers/acme/cloud/1.0.0/PLATFORM/terraform-provider-cloud_v1.0.0 --
cloud
-- providers/acme/disk/1.0.0/PLATFORM/terraform-provider-disk_v1.0.0 --
disk
-- providers/acme/net/1.0.0/PLATFORM/terraform-provider-net_v1.0.0 --
net
-- config/main.tf --
terraform {
  required_providers {
    cloud = { source = "MODTEST_HOST/acme/cloud" }
    disk  = { source = "MODTEST_HOST/acme/disk" }
    net   = { source = "MODTEST_HOST/acme/net" }
  }
}
`

// The real tools must be able to install providers from the servers. Otherwise the servers do not
// behave like real ones.
func TestStockProviders(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"terraform", "tofu"} {
		for _, mirrors := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, mirrors %v", tool, mirrors), func(t *testing.T) {
				t.Parallel()
				binary := testenv.Program(t, tool)
				platform := addrs.CurrentPlatform().String()
				tree := strings.ReplaceAll(platformTree, "PLATFORM", platform)
				if mirrors {
					tree = strings.ReplaceAll(tree, "MODTEST_HOST/acme/disk", mirroredDisk)
				}
				world := modtest.New(t, modtest.Txtar(tree))
				dir := world.Dir(t, "config")
				config := fmt.Sprintf("credentials %q {\n  token = \"s3cret\"\n}\n", world.Host())
				if mirrors {
					config += installation(t, world, tool)
				}
				runStock(t, world, dir, config, binary, "init", "-no-color", "-input=false")
				lock, err := os.ReadFile(filepath.Join(dir, ".terraform.lock.hcl"))
				testenv.Must(t, err)
				for _, name := range []string{"acme/cloud", "acme/disk", "acme/net"} {
					h1, zh, err := world.ProviderHashes(name, "1.0.0", platform)
					if err != nil || !strings.Contains(string(lock), string(h1)) || !mirrors && !strings.Contains(string(lock), string(zh)) {
						t.Errorf("%s: %v, the lock does not have %s and %s:\n%s", name, err, h1, zh, lock)
					}
				}
				if mirrors != !asked(world, "/v1/providers/") {
					t.Errorf("requests: %v", world.Requests())
				}
			})
		}
	}
}

// mirroredDisk is the address of the provider in the network mirror. The stock tools cannot get a
// provider from a network mirror if the provider's host has a port.
const mirroredDisk = "registry.example.com/acme/disk"

// installation returns a block of a CLI configuration that gets one provider from each kind of
// mirror. Terraform does not support OCI mirrors.
func installation(t *testing.T, world *modtest.World, tool string) string {
	t.Helper()
	dir := t.TempDir()
	testenv.Must(t, world.WriteProviderMirror(dir, modtest.ProviderMirror{}))
	include := func(source string) string { return fmt.Sprintf("include = [%q]", source) }
	files, last := fmt.Sprintf("filesystem_mirror {\n    path = %q\n", dir), include(world.ProviderSource("acme/net"))
	third := files + "    " + last + "\n  }\n"
	if tool == "tofu" {
		testenv.Must(t, world.PushOCIProvider("mirror/acme/net", "acme/net", "1.0.0"))
		third = fmt.Sprintf("oci_mirror {\n    repository_template = \"%s/mirror/${namespace}/${type}\"\n    %s\n  }\n", world.Host(), last)
	}
	return fmt.Sprintf("provider_installation {\n  %s    %s\n  }\n  network_mirror {\n    url = %q\n    %s\n  }\n  %s}\n",
		files, include(world.ProviderSource("acme/cloud")), world.ProviderMirrorURL(), include(mirroredDisk), third)
}

func asked(world *modtest.World, path string) bool {
	for _, r := range world.Requests() {
		if strings.HasPrefix(r.Path, path) {
			return true
		}
	}
	return false
}
