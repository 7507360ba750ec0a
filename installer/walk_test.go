package installer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
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
