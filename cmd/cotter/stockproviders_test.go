package main

import (
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/modtest"
)

// timeProvider is the environment variable that names the binary of a real provider, built
// from github.com/hashicorp/terraform-provider-time@v0.14.2 by .ci/run. Building it takes
// longer than all other tests together.
const timeProvider = "COTTER_TEST_PROVIDER_TIME"

const timeConfig = `
-- main.tf --
terraform {
  required_providers {
    time = {
      source  = "hashicorp/time"
      version = "~> 0.14"
    }
  }
}

module "clock" {
  source  = "HOST/acme/clock/any"
  version = "~> 1.0"
}

output "year" {
  value = "the year ${module.clock.year}"
}
`

const clockModule = `
resource "time_static" "start" {
  rfc3339 = "2020-02-12T06:36:13Z"
}

output "year" {
  value = time_static.start.year
}
`

// TestRealProvider runs a real provider that Cotter has installed. Stock tools can use it
// without init and without a registry.
func TestRealProvider(t *testing.T) {
	t.Parallel()
	binary := os.Getenv(timeProvider)
	if binary == "" {
		t.Skipf("%s does not name the binary of terraform-provider-time", timeProvider)
	}
	program := readFile(t, binary)
	tree := fstest.MapFS{
		"providers/hashicorp/time/0.14.2/" + addrs.CurrentPlatform().String() + "/terraform-provider-time_v0.14.2_x5": {Data: program},
		"registry/acme/clock/any/1.0.0/main.tf": {Data: []byte(clockModule)},
	}
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, tree, modtest.Options{Archives: true})
			p := newStockProject(t, world, tool, modtest.Txtar(timeConfig))
			p.mustRun(t, "install --for "+tool)
			p.sameLock(t, func() {
				p.asksNothing(t, "plan", "-input=false")
				if out := p.asksNothing(t, "apply", "-input=false", "-auto-approve"); !strings.Contains(out, `year = "the year 2020"`) {
					t.Errorf("the output of apply is not that of the module:\n%s", out)
				}
				p.asksNothing(t, "init", "-input=false", "-plugin-dir=.terraform/providers")
				p.downloadsNothing(t, "init", "-input=false")
				p.mustRun(t, "install --locked --offline --for "+tool)
			})
			// Copies do not need the cache afterwards.
			remove(t, p.locate(".terraform"))
			p.env = append(p.env, "COTTER_LAYOUT=copy")
			p.mustRun(t, "install --locked --for "+tool)
			remove(t, p.cache)
			p.sameLock(t, func() {
				if out := p.asksNothing(t, "plan", "-input=false"); !strings.Contains(out, "No changes") {
					t.Errorf("plan after apply:\n%s", out)
				}
			})
		})
	}
}

const acceptedConfig = `
-- main.tf --
terraform {
  required_providers {
    cloud = {
      source  = "HOST/acme/cloud"
      version = "~> 1.0"
    }
    disk = {
      source = "example.com/acme/disk"
    }
  }
}

module "net" {
  source  = "HOST/acme/net/any"
  version = "~> 1.0"
}
`

// TestStockAccepts checks that both stock tools accept everything that Cotter can install
// and lock: links at the last directory level or copies, hashes of other platforms, module
// blocks. They must download nothing and write nothing.
func TestStockAccepts(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"registry/acme/net/any/1.0.0/main.tf": {Data: []byte("# net")}}
	for _, platform := range []string{addrs.CurrentPlatform().String(), otherPlatform} {
		addProvider(tree, "acme/cloud", platform, "1.0.0", "2.0.0")
		addProvider(tree, "acme/disk", platform, "1.0.0")
	}
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, tree, modtest.Options{Archives: true})
			p := newStockProject(t, world, tool, modtest.Txtar(acceptedConfig))
			p.mustRun(t, "install --for "+tool+" --platform "+otherPlatform)
			if !strings.Contains(p.lockText(t), `module "net"`) {
				t.Errorf("the lock has no block of the module:\n%s", p.lockText(t))
			}
			p.sameLock(t, func() {
				p.downloadsNothing(t, "init", "-lockfile=readonly")
				p.downloadsNothing(t, "init", "-upgrade") // except for the module
			})
			remove(t, p.locate(".terraform"))
			p.env = append(p.env, "CI=true")
			p.mustRun(t, "install --for "+tool)
			remove(t, p.cache)
			p.sameLock(t, func() {
				p.downloadsNothing(t, "init")
				world.SetFaults(modtest.Fault{Status: 503})
				p.asksNothing(t, "init", "-plugin-dir=.terraform/providers")
			})
		})
	}
}

func (p *stockProject) sameLock(t *testing.T, commands func()) {
	t.Helper()
	before := p.lockText(t)
	commands()
	if diff := cmp.Diff(before, p.lockText(t)); diff != "" {
		t.Errorf("%s has changed the lock (-before +after):\n%s", p.tool, diff)
	}
}

// asksNothing runs the stock tool, which must not send any request.
func (p *stockProject) asksNothing(t *testing.T, args ...string) string {
	t.Helper()
	out, requests := p.observed(t, args...)
	if len(requests) > 0 {
		t.Errorf("%s %v has sent requests: %v", p.tool, args, requests)
	}
	return out
}

// downloadsNothing runs the stock tool, which may request listings only.
func (p *stockProject) downloadsNothing(t *testing.T, args ...string) {
	t.Helper()
	_, requests := p.observed(t, args...)
	for _, r := range requests {
		if strings.HasPrefix(r.Path, "/providers/") {
			t.Errorf("%s %v has downloaded %s", p.tool, args, r.Path)
		}
	}
}

// observed runs the stock tool, and returns its output and the requests that it sent.
func (p *stockProject) observed(t *testing.T, args ...string) (out string, requests []modtest.Request) {
	t.Helper()
	before := len(p.world.Requests())
	out = p.stock(t, args...)
	return out, p.world.Requests()[before:]
}

// TestProviderTransfers cuts off the first transfer of each file of a provider in the
// middle, while four processes with one cache install the provider. It is transferred once,
// and the part before the cut is not transferred again.
func TestProviderTransfers(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"project/main.tf": {Data: []byte(strings.ReplaceAll(`terraform {
  required_providers {
    cloud = {
      source = "HOST/acme/cloud"
    }
  }
}
`, "HOST", "MODTEST_HOST"))}}
	addProvider(tree, "acme/cloud", addrs.CurrentPlatform().String(), "1.0.0")
	world, cache := modtest.New(t, tree), t.TempDir()
	world.SetFaults(modtest.Fault{Path: "/providers/", Times: 1, Truncate: true})
	var wait sync.WaitGroup
	for range 4 {
		cmd := cotterIn(world, world.Dir(t, "project"), cache)
		wait.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wait.Wait()
	var transfers []string
	for _, r := range world.Requests() {
		if strings.HasSuffix(r.Path, ".zip") {
			transfers = append(transfers, r.Header.Get("Range"))
		}
	}
	if len(transfers) != 2 || transfers[0] != "" || !strings.HasPrefix(transfers[1], "bytes=") {
		t.Errorf("the archive was asked for with the ranges %q, want one for all of it and one for the rest", transfers)
	}
}
