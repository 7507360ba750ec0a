package installer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const unevenWorld = `
-- config/main.tf --
module "slow" {
  source = "https://MODTEST_HOST/archives/slow.zip"
}
module "own" {
  source = "./own"
}
-- config/own/main.tf --
module "below" {
  source = "https://MODTEST_HOST/archives/below.zip"
}
-- archives/slow.zip/main.tf --
-- archives/below.zip/main.tf --
`

// slowFetcher does not fetch the package "slow" before it has begun to fetch "below".
type slowFetcher struct {
	installer.Fetcher
	began chan struct{}
}

func (f slowFetcher) Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error) {
	if strings.Contains(req.Package.String(), "/below") {
		close(f.began)
		return f.Fetcher.Fetch(ctx, req)
	}
	select {
	case <-f.began:
		return f.Fetcher.Fetch(ctx, req)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// What a module calls is fetched while packages elsewhere in the tree are still fetched.
func TestSlowNeighbor(t *testing.T) {
	t.Parallel()
	p := world(t, unevenWorld)
	in := with(p.installer(), func(o *installer.Options) { o.Fetcher = slowFetcher{o.Fetcher, make(chan struct{})} })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := in.Install(ctx, installer.Project{Dir: p.dir}, installer.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
}

// The providers of a lock are downloaded although the module that requires them is not there yet.
func TestLockedProvidersAtOnce(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, `
-- archives/slow.zip/main.tf --
terraform {
  required_providers {
    disk = { source = "MODTEST_HOST/acme/disk" }
  }
}
-- providers/acme/disk/1.0.0/PLATFORM/terraform-provider-disk_v1.0.0 --
disk
`, modtest.Options{})
	dir := w.project(t, map[string]string{"main.tf": `module "slow" { source = "https://HOST/archives/slow.zip" }`})
	req := request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	mustInstall(t, w.in, req.Project, req.InstallOptions)
	testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	began := make(chan struct{})
	begin := sync.OnceFunc(func() { close(began) })
	in := with(w.Installer(), func(o *installer.Options) { o.Fetcher = slowFetcher{o.Fetcher, began} })
	in = with(in, func(o *installer.Options) {
		o.OnEvent = func(ev installer.Event) {
			if _, ok := ev.(event.ProviderProgress); ok {
				begin()
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := in.Install(ctx, req.Project, req.InstallOptions); err != nil {
		t.Fatal(err)
	}
}
