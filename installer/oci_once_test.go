package installer_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

// An artifact is downloaded once in a run, even if calls use different names for it.
func TestOCIFetchedOnce(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, sources string }{
		{"one tag", "a=oci://MODTEST_HOST/net?tag=1.0.0 b=oci://MODTEST_HOST/net?tag=1.0.0"},
		{"a tag and a range", "a=oci://MODTEST_HOST/net?tag=1.0.0 b=oci://MODTEST_HOST/net?version=1.0.0"},
		{"two tags", "a=oci://MODTEST_HOST/net?tag=1.0.0 b=oci://MODTEST_HOST/net?tag=stable"},
		{"the default tag", "a=oci://MODTEST_HOST/net b=oci://MODTEST_HOST/net?tag=latest"},
		{"a range and the default tag", "a=oci://MODTEST_HOST/net?version=~>1.0 b=oci://MODTEST_HOST/net"},
		{"a tag and a digest", "a=oci://MODTEST_HOST/net?tag=1.0.0 b=oci://MODTEST_HOST/net?digest=DIGEST"},
		{"three tags", "a=oci://MODTEST_HOST/net?tag=1.0.0 b=oci://MODTEST_HOST/net?tag=stable c=oci://MODTEST_HOST/net"},
		{"two directories", "a=oci://MODTEST_HOST/net//a?tag=1.0.0 b=oci://MODTEST_HOST/net//b?version=~>1.0"},
		{"calls in a package", "a=oci://MODTEST_HOST/net?tag=1.0.0 b=https://MODTEST_HOST/archives/caller.zip"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, `
-- config/README.md --
-- archives/caller.zip/main.tf --
module "net" {
  source = "oci://MODTEST_HOST/net?tag=1.0.0"
}
-- oci/net/1.0.0/main.tf --
-- oci/net/1.0.0/a/main.tf --
-- oci/net/1.0.0/b/main.tf --
-- oci/net/stable/main.tf --
-- oci/net/stable/a/main.tf --
-- oci/net/stable/b/main.tf --
-- oci/net/latest/main.tf --
-- oci/net/latest/a/main.tf --
-- oci/net/latest/b/main.tf --
`)
			digest, err := p.world.OCIDigest("net", "1.0.0")
			testenv.Must(t, err)
			p.write(t, "main.tf", strings.ReplaceAll(calls(test.sources), "DIGEST", digest))
			for _, req := range []request{{}, {InstallOptions: installer.InstallOptions{Locked: true}}} {
				p.world.ResetRequests()
				p.remove(t, ".terraform")
				p.mustInstall(t, req)
				var blobs []string
				for _, request := range p.world.Requests() {
					if strings.Contains(request.Path, "/blobs/") {
						blobs = append(blobs, request.Path)
					}
				}
				if len(blobs) != 1 {
					t.Errorf("%d transfers with Locked = %v, want 1: %v", len(blobs), req.Locked, p.world.Requests())
				}
			}
		})
	}
}
