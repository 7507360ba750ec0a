package mirror_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
)

const world = `
-- config/main.tf --
module "net" {
  source = "MODTEST_HOST/acme/net/aws"
}
module "tar" {
  source = "https://MODTEST_HOST/archives/tar.tar.gz"
}
terraform {
  required_providers {
    cloud = {
      source = "MODTEST_HOST/acme/cloud"
    }
  }
}
-- registry/acme/net/aws/1.2.0/main.tf --
# net
-- archives/tar.tar.gz/main.tf --
# tar
-- providers/acme/cloud/1.2.0/PLATFORM/terraform-provider-cloud_v1.2.0 --
cloud
-- providers/acme/cloud/1.2.0/plan9_arm/terraform-provider-cloud_v1.2.0 --
cloud for plan9
`

var plan9 = addrs.Platform{OS: "plan9", Arch: "arm"}

// project has two modules and a provider, which are installed.
type project struct {
	w   *modtest.World
	in  *installer.Installer
	dir string
	// platforms are those of the provider whose packages are wanted.
	platforms []addrs.Platform
}

// open returns a project and an empty mirror in the world's registry.
func open(t *testing.T) (*project, *mirror.Mirror) {
	t.Helper()
	w := modtest.New(t, modtest.Txtar(strings.ReplaceAll(world, "PLATFORM", addrs.CurrentPlatform().String())))
	p := &project{w: w, in: w.Installer(), dir: w.Dir(t, "config")}
	_, err := p.in.Install(t.Context(), p.projects()[0], installer.InstallOptions{Scope: installer.ScopeAll})
	testenv.Must(t, err)
	fetcher := p.in.Options().Fetcher.(*getmodules.Fetcher)
	fetcher.Backoff = noWait
	m, err := mirror.Open(fetcher, "oci://"+string(w.Host())+"/corp/modules")
	testenv.Must(t, err)
	return p, m
}

func noWait(int) time.Duration { return 0 }

func (p *project) projects() []installer.Project {
	return []installer.Project{{Dir: p.dir, Platforms: p.platforms}}
}

// locked returns the options for copying everything that the lock of the project has.
func (p *project) locked() installer.LockedOptions {
	return installer.LockedOptions{Scope: installer.ScopeAll, Platforms: p.platforms}
}

// installFrom installs on a machine that has only the lock and a store. It returns the warnings and
// the requests that were not for a mirror.
func (p *project) installFrom(t *testing.T, store installer.PackageStore, offline bool) (warnings, asked []string, err error) {
	t.Helper()
	p.uninstall(t, "")
	in := with(p.w.Installer(), func(o *installer.Options) {
		o.CacheDir, o.StateDir, o.Stores = t.TempDir(), t.TempDir(), []installer.PackageStore{store}
		o.OnEvent = func(ev installer.Event) {
			if warning, ok := ev.(event.Warning); ok {
				warnings = append(warnings, warning.Message)
			}
		}
	})
	p.w.ResetRequests()
	_, err = in.Install(t.Context(), p.projects()[0], installer.InstallOptions{Scope: installer.ScopeAll, Locked: true, Offline: offline})
	for _, request := range p.w.Requests() {
		if offline || !strings.HasPrefix(request.Path, "/v2/") {
			asked = append(asked, request.Path)
		}
	}
	installed, globErr := filepath.Glob(filepath.Join(p.dir, ".terraform", "providers", "*", "*", "*", "*", "*"))
	if testenv.Must(t, globErr); (err == nil) != (len(installed) == 1) {
		t.Errorf("Install = %v, and %q is installed", err, installed)
	}
	return warnings, asked, err
}

// uninstall removes a part of what is installed.
func (p *project) uninstall(t *testing.T, name string) {
	t.Helper()
	testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, ".terraform", name)))
}

// changeHashes changes the hashes of the provider in the lock.
func (p *project) changeHashes(t *testing.T, change func([]hashing.Hash) []hashing.Hash) {
	t.Helper()
	lock, err := installer.ReadLock(t.Context(), p.projects()[0])
	testenv.Must(t, err)
	entry := lock.Providers()[0]
	entry.Hashes = change(entry.Hashes)
	lock.SetProvider(entry)
	testenv.Must(t, os.WriteFile(filepath.Join(p.dir, ".terraform.lock.hcl"), lock.Bytes(), 0o600))
}

// withScheme returns a function that leaves the hashes of a scheme.
func withScheme(scheme string) func([]hashing.Hash) []hashing.Hash {
	return func(all []hashing.Hash) (some []hashing.Hash) {
		for _, h := range all {
			if h.Scheme() == scheme {
				some = append(some, h)
			}
		}
		return some
	}
}

// ofAnotherPackage returns hashes that no package has.
func ofAnotherPackage([]hashing.Hash) []hashing.Hash {
	return []hashing.Hash{hashing.Hash("zh:" + strings.Repeat("a", 64))}
}

func has(paths []string, suffix string) bool {
	for _, path := range paths {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

func with(in *installer.Installer, change func(*installer.Options)) *installer.Installer {
	o := in.Options()
	change(&o)
	return installer.New(o)
}
