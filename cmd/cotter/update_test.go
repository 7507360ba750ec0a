package main

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

// What an update edits, installs and proposes depends on the same answers, so each question is asked
// only once.
func TestUpdateAsksOnce(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"update", "update --edit", "update net"} {
		s := newSite(t, modtest.New(t, modtest.Txtar(`
-- registry/acme/net/aws/1.0.0/main.tf --
-- registry/acme/net/aws/1.1.0/main.tf --
-- registry/acme/net/aws/2.0.0/main.tf --
-- git/zone.git/v1.0.0/main.tf --
-- git/zone.git/v1.1.0/main.tf --
`)))
		s.write(t, "main.tf", `module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 1.0"
}
module "zone" {
  source = "git::https://MODTEST_HOST/git/zone.git?ref=v1.0.0"
}
`)
		s.mustRun(t, "install")
		s.world.ResetRequests()
		s.mustRun(t, line)
		asked := 0
		for _, r := range s.world.Requests() {
			if strings.HasSuffix(r.Path, "/acme/net/aws/versions") {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("%s: the registry listed its versions %d times", line, asked)
		}
	}
}
