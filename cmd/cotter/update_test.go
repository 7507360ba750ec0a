package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

// What an update edits, installs and proposes depends on the same answers, so each question is asked
// only once.
func TestUpdateAsksOnce(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"update"}, {"update", "--edit"}, {"update", "net"}} {
		world := modtest.New(t, modtest.Txtar(`
-- registry/acme/net/aws/1.0.0/main.tf --
-- registry/acme/net/aws/1.1.0/main.tf --
-- registry/acme/net/aws/2.0.0/main.tf --
-- git/zone.git/v1.0.0/main.tf --
-- git/zone.git/v1.1.0/main.tf --
-- project/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 1.0"
}
module "zone" {
  source = "git::https://MODTEST_HOST/git/zone.git?ref=v1.0.0"
}
`))
		dir, cache := world.Dir(t, "project"), t.TempDir()
		if out, err := cotterIn(world, dir, cache).CombinedOutput(); err != nil {
			t.Fatalf("install: %v\n%s", err, out)
		}
		world.ResetRequests()
		cmd := cotterIn(world, dir, cache)
		cmd.Args = slices.Concat(cmd.Args[:1], args)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		asked := 0
		for _, r := range world.Requests() {
			if strings.HasSuffix(r.Path, "/acme/net/aws/versions") {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("%q: the registry listed its versions %d times", args, asked)
		}
	}
}
