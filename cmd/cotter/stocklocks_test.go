package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

// constraintSets is the number of random sets of constraints that are compared in addition
// to those in the table. For each set, both stock tools download a provider.
var constraintSets = flag.Int("constraints", 3, "compare the locks of so many random sets of constraints")

// offeredVersions are the versions of each provider in these tests.
var offeredVersions = []string{
	"0.1.0", "0.2.0", "1.0.0", "1.0.5", "1.2.3-beta1", "1.2.3", "1.2.4-rc.1", "1.3.0", "2.0.0", "2.1.0+build", "3.0.0", "3.1.0-alpha",
}

// constraintTexts are constraints that stock tools accept, one text for each provider. The
// part before "|" is in the root module, and the parts after it are in other modules.
var constraintTexts = []string{
	"", "1.0", "1", "= 1.0.0", "=1.0.0", "1.0.0 ", "~> 1", "~> 1.2", "~> 1.2.3", "~>1.2.0", "~> 0",
	">= 1, < 3", "< 3, >= 1", ">=1.0.0,>=1.0,>=1", ">=1.0.0 , <2.0.0", ">= 01.0", "!= 3.0.0", ">= 1.0.0, != 1.2.3, < 2.0.0",
	"> 1", "<= 2", "> 1.0.0, > 1.0.0, < 3.0.0, <= 3.0.0", "~> 1.0.0, ~> 1.0", "~> 1.0, ~> 1.2", "= 1.0, >= 1.0, <= 1.0",
	"!= 1.0.0, != 1.0.0, 2.0.0", ">= 0", ">= 0.0.0", "1.2.3-beta1", ">= 1.2.3-beta1", "~> 1.2.3-beta1", "~> 1.2-beta1",
	"<= 1.2.3-beta1", "< 1.2.3", "1.2.4-rc.1, >= 1.0.0", "2.1.0+build", ">= 2.1.0+build", "~> 1.2.3-beta1+x",
	"|~> 1.0", ">= 1.0|< 2.0", "~> 1|~> 1.0|~> 1.0.0", "< 3|> 1|!= 2.0.0", "1.0|1.0.0|=1", ">= 1.0||>= 1.0.0", "~> 1.2.0|>= 1.2, < 2|!= 1.2.0",
	"= 2.1.0+build|>= 2", "~>1.2.0|~> 1.2.0|~> 1.2", "<= 3.0|< 3.0.0|>= 1", ">= 0.1-alpha|~> 0", "!= 1.0|!= 2|!= 3",
}

// randomConstraints returns more such texts, combined from parts of the others.
func randomConstraints(t *testing.T, count int) []string {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("the random constraints are of seed %d", seed)
	source := rand.New(rand.NewPCG(seed, 0))
	operators := []string{"", "=", "!=", ">", ">=", "<", "<=", "~>"}
	numbers := []string{"0", "1", "1.0", "1.2", "2", "3", "1.0.0", "1.2.3", "1.3.0", "2.0.0", "3.0.0", "1.2.3-beta1", "2.1.0+build"}
	spaces := []string{"", " "}
	var texts []string
	for len(texts) < count {
		var parts []string
		for range 1 + source.IntN(4) {
			part := operators[source.IntN(len(operators))] + spaces[source.IntN(2)] + numbers[source.IntN(len(numbers))]
			parts = append(parts, strings.TrimSpace(part), []string{",", ", ", "|"}[source.IntN(3)])
		}
		if text := strings.Join(parts[:len(parts)-1], ""); canBeSelected(text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// canBeSelected reports whether one of the offered versions meets the constraints.
func canBeSelected(text string) bool {
	var want versions.ProviderConstraints
	for part := range strings.SplitSeq(text, "|") {
		parsed, err := versions.ParseProviderConstraints(part)
		if err != nil {
			return false
		}
		want = want.And(parsed)
	}
	return slices.ContainsFunc(offeredVersions, func(v string) bool {
		return want.Allows(versions.MustParse(v))
	})
}

// otherShapes are ways to require providers that do not involve constraints: other files and
// forms, other hosts, other local names, and providers that are built into the stock tools.
const otherShapes = `
-- shapes.tf --
terraform {
  required_providers {
    legacy   = "~> 1.0"
    empty    = {}
    number   = 1
    bare     = { version = ">= 1.0" }
    unused   = { source = "HOST/shape/unused" }
    builtin  = { source = "terraform.io/builtin/terraform" }
    bar      = { source = "HOST/shape/bar" }
    cased    = { source = "HOST/Shape/CASED" }
    same     = { source = "HOST/shape/cased", version = "< 3" }
    elsewhere = { source = "example.com/shape/host" }
    port      = { source = "example.com:8443/shape/host" }
    port443   = { source = "EXAMPLE.com:443/shape/host443" }
    local     = { source = "localhost/shape/host" }
    unicode   = { source = "bücher.example/shape/host" }
    wide      = { source = "HOST/shape/ｗｉｄｅ" }
    dash2     = { source = "HOST/shape/b-2" }
    dash      = { source = "HOST/shape/b" }
    zero      = { source = "0/9cat" }
    replaced  = { source = "HOST/shape/replaced", version = "1.0.0" }
    moved     = { source = "HOST/shape/nowhere" }
    alias     = { source = "HOST/shape/alias", version = "~> 1.0" }
    west      = { source = "HOST/shape/alias-of-child" }
  }
}
resource "foo_thing" "a" {}
data "read_thing" "a" {}
resource "bar_thing" "a" {}
resource "simple" "a" {}
resource "UPPER_a" "a" {}
resource "other_thing" "a" {
  provider = chosen
}
resource "terraform_data" "a" {}
data "terraform_remote_state" "a" {
  backend = "local"
}
provider "block" {}
provider "old" {
  version = "~> 1.0"
}
provider "alias" {
  alias = "west"
}
module "aliases" {
  source    = "./aliases"
  providers = { west = west }
}
module "none" {
  source = "./none"
  count  = 0
}
import {
  to = imported_thing.a
  id = "x"
}
resource "imported_thing" "a" {}
moved {
  from = gone_thing.a
  to   = foo_thing.a
}
-- shapes_override.tf --
terraform {
  required_providers {
    replaced = { source = "HOST/shape/replaced", version = "2.0.0" }
    moved    = { source = "HOST/shape/moved" }
    added    = { source = "HOST/shape/added", version = "~> 1.2" }
  }
}
-- json.tf.json --
{"resource": {"json_thing": {"a": {}}}, "provider": {"jsonblock": {}}}
-- aliases/main.tf --
terraform {
  required_providers {
    west = {
      source                = "HOST/shape/alias-of-child"
      version               = ">= 1.0"
      configuration_aliases = [west]
    }
    again = { source = "HOST/shape/alias", version = "!= 1.3.0" }
  }
}
resource "own_thing" "a" {}
-- none/main.tf.json --
{"terraform": {"required_providers": {"x": {"source": "HOST/shape/counted", "version": "~> 2.0"}, "y": "~> 1.0"}}}
`

// providersOfShapes are the names of all providers that otherShapes requires.
var providersOfShapes = strings.Fields(`
	hashicorp/legacy hashicorp/empty hashicorp/number hashicorp/bare hashicorp/foo hashicorp/read hashicorp/simple hashicorp/upper hashicorp/other
	hashicorp/chosen hashicorp/block hashicorp/old hashicorp/imported hashicorp/json hashicorp/jsonblock hashicorp/own hashicorp/y hashicorp/gone
	shape/unused shape/bar shape/cased shape/host shape/host443 shape/wide shape/b-2 shape/b 0/9cat shape/replaced shape/moved shape/alias
	shape/alias-of-child shape/added shape/counted`)

// shapeHosts are the hosts of otherShapes and the default hosts of both tools. The CLI
// configuration makes the world their registry.
var shapeHosts = []string{
	"registry.opentofu.org", "registry.terraform.io", "example.com", "example.com:8443", "localhost", "bücher.example",
}

// requirementsOf returns a configuration with a separate provider for each set of
// constraints: "acme/p0", "acme/p1" and so on.
func requirementsOf(sets []string) fstest.MapFS {
	blocks := make(map[string]*strings.Builder)
	for i, set := range sets {
		for module, text := range strings.Split(set, "|") {
			file := fmt.Sprintf("m%d/main.tf", module)
			if blocks[file] == nil {
				blocks[file] = new(strings.Builder)
			}
			version := ""
			if text != "" {
				version = fmt.Sprintf(", version = %q", text)
			}
			fmt.Fprintf(blocks[file], "    p%d = { source = \"HOST/acme/p%d\"%s }\n", i, i, version)
		}
	}
	tree := fstest.MapFS{}
	calls := ""
	for _, file := range slices.Sorted(maps.Keys(blocks)) {
		dir := filepath.Dir(file)
		calls += fmt.Sprintf("module %q {\n  source = \"./%s\"\n}\n", dir, dir)
		tree[file] = &fstest.MapFile{Data: []byte("terraform {\n  required_providers {\n" + blocks[file].String() + "  }\n}\n")}
	}
	tree["calls.tf"] = &fstest.MapFile{Data: []byte(calls)}
	return tree
}

// TestStockLocks compares whole locks: for the same configuration, Cotter and both stock
// tools must write the same bytes.
func TestStockLocks(t *testing.T) {
	t.Parallel()
	sets := append(slices.Clone(constraintTexts), randomConstraints(t, *constraintSets)...)
	tree := fstest.MapFS{}
	for i := range sets {
		addProvider(tree, fmt.Sprintf("acme/p%d", i), addrs.CurrentPlatform().String(), offeredVersions...)
	}
	for _, name := range providersOfShapes {
		addProvider(tree, name, addrs.CurrentPlatform().String(), "1.0.0", "1.3.0", "2.0.0")
		addProvider(tree, name, otherPlatform, "2.0.0")
	}
	world := modtest.NewWith(t, tree, modtest.Options{ProviderReported: true})
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			p := newStockProject(t, world, tool, requirementsOf(sets), modtest.Txtar(otherShapes))
			p.mustRun(t, "install --for "+tool)
			ours := p.lockText(t)
			p.fresh(t)
			p.stock(t, "init")
			if diff := cmp.Diff(p.lockText(t), ours); diff != "" {
				t.Errorf("the locks differ (-%s +cotter):\n%s", tool, diff)
			}
		})
	}
}

// TestStockPlatforms compares the locks that Cotter and the stock tools write for other
// platforms.
func TestStockPlatforms(t *testing.T) {
	t.Parallel()
	const config = `
-- main.tf --
terraform {
  required_providers {
    one = { source = "HOST/acme/one", version = "~> 1.0" }
    two = { source = "HOST/acme/two" }
  }
}
resource "three_thing" "a" {}
`
	tree := fstest.MapFS{}
	for _, name := range []string{"acme/one", "acme/two", "hashicorp/three"} {
		addProvider(tree, name, addrs.CurrentPlatform().String(), "1.0.0", "2.0.0")
		addProvider(tree, name, otherPlatform, "1.0.0", "2.0.0")
	}
	for _, c := range []struct {
		tool     string
		reported bool // whether the registry reports the hashes of all platforms
	}{{"tofu", true}, {"tofu", false}, {"terraform", true}} {
		t.Run(fmt.Sprintf("%s, reported %v", c.tool, c.reported), func(t *testing.T) {
			t.Parallel()
			world, tool := modtest.NewWith(t, tree, modtest.Options{ProviderReported: c.reported}), c.tool
			p := newStockProject(t, world, tool, modtest.Txtar(config))
			own := addrs.CurrentPlatform().String()
			p.mustRun(t, "lock --for "+tool+" --platform "+own+" --platform "+otherPlatform)
			ours := p.lockText(t)
			if _, err := os.Lstat(p.locate(".terraform/providers")); err == nil {
				t.Error("cotter lock has installed providers")
			}
			p.fresh(t)
			p.stock(t, "providers", "lock", "-platform="+own, "-platform="+otherPlatform)
			if diff := cmp.Diff(p.lockText(t), ours); diff != "" {
				t.Errorf("the locks differ (-%s +cotter):\n%s", tool, diff)
			}
			// A complete lock needs no request.
			world.ResetRequests()
			p.mustRun(t, "lock --for "+tool+" --platform "+otherPlatform)
			if requests := world.Requests(); p.lockText(t) != ours || len(requests) > 0 {
				t.Errorf("a complete lock was changed, or completed again: %v\n%s", requests, cmp.Diff(ours, p.lockText(t)))
			}
		})
	}
}

// otherPlatform is a platform on which the tests do not run.
const otherPlatform = "solaris_amd64"

func addProvider(tree fstest.MapFS, name, platform string, numbers ...string) {
	for _, version := range numbers {
		file := fmt.Sprintf("providers/%s/%s/%s/terraform-provider-%s_v%s", name, version, platform, filepath.Base(name), version)
		tree[file] = &fstest.MapFile{Data: []byte(name + " " + version + " " + platform)}
	}
}
