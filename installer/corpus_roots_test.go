package installer_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/repository"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

var (
	everyRoot = flag.Int("every", 1, "with -corpus and checked-out repositories: take each `N`th root module")
)

const rootTimeout = 3 * time.Minute

// testRepositories compares whole installations of each every-th root module in checked-out
// repositories, with its lock and without it, and logs the counts of the outcomes, which it returns before it
// has any.
func testRepositories(t *testing.T, dir string, every int) *rootCounts {
	dir, err := filepath.Abs(dir)
	testenv.Must(t, err)
	all, err := readRepositories(t.Context(), dir)
	testenv.Must(t, err)
	err = all.rootsOf(t.Context(), func(ctx context.Context, dir string) ([]string, error) {
		return repository.Roots(ctx, installer.New(installer.Options{}), dir, installer.DialectAuto)
	})
	testenv.Must(t, err)
	t.Logf("%d root modules; %d providers, %d modules of registries, %d git repositories", len(all.roots), len(all.providers), len(all.modules), len(all.git))
	if *delay > 0 {
		testLatency(t, all, every)
		return nil
	}
	workers := runtime.GOMAXPROCS(0)
	pool := make(chan *rootWorld, workers)
	for range workers {
		pool <- newRootWorld(t, all)
	}
	counts, tools := &rootCounts{roots: map[string]int{}, bothSucceed: map[string]int{}, areEqual: map[string]int{}}, stockTools(t)
	t.Cleanup(func() { t.Log(counts) })
	for _, past := range []string{"lock", "none"} {
		for i, root := range all.roots {
			if i%every != 0 || past == "lock" && !exists(filepath.Join(root, ".terraform.lock.hcl")) {
				continue
			}
			below := strings.TrimPrefix(root, dir+string(filepath.Separator))
			t.Run(past+"/"+below, func(t *testing.T) {
				t.Parallel()
				world := <-pool
				defer func() { pool <- world }()
				for dialect, binary := range tools {
					one := &rootComparison{repositories: all, world: world, root: root, past: past, dialect: dialect, binary: binary}
					one.run(t)
					counts.add(past+", "+dialect.String(), one.initComparison)
				}
			})
		}
	}
	return counts
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// rootWorld has the servers of one worker, and git's environment for them.
type rootWorld struct {
	*modtest.World
	env []string
}

func newRootWorld(t *testing.T, all *repositories) *rootWorld {
	t.Helper()
	world := all.world(t)
	name := filepath.Join(t.TempDir(), "gitconfig")
	testenv.Must(t, os.WriteFile(name, []byte(all.gitConfig(world)), 0o600))
	return &rootWorld{world, []string{"GIT_CONFIG_GLOBAL=" + name, "GIT_CONFIG_NOSYSTEM=1"}}
}

type rootComparison struct {
	*repositories
	*initComparison
	world   *rootWorld
	root    string
	past    string // "lock", or "none" for no lock
	dialect installer.Dialect
	binary  string
}

func (c *rootComparison) run(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), rootTimeout)
	defer cancel()
	below, err := filepath.Rel(c.repositories.dir, c.root)
	testenv.Must(t, err)
	p, other := &project{world: c.world.World, dir: t.TempDir(), state: t.TempDir()}, t.TempDir()
	req := request{Project: installer.Project{Dir: filepath.Join(p.dir, below), Dialect: c.dialect}}
	c.initComparison, err = newInitComparison(p, c.binary, c.world.env, req, other)
	testenv.Must(t, err)
	c.initComparison.hosts = c.repositories.hosts
	for _, dir := range []string{p.dir, other} {
		testenv.Must(t, c.copyRoot(c.world.World, c.root, dir))
		if c.past == "none" {
			testenv.Must(t, os.RemoveAll(filepath.Join(dir, below, ".terraform.lock.hcl")))
		}
	}
	c.initComparison.run(ctx, t)
	if c.stockFailure != "" && c.ourFailure != "" {
		t.Logf("with %s, both fail. Stock:\n%s\nOurs:\n%s", c.dialect, c.stockFailure, c.ourFailure)
	}
	for _, difference := range c.differences {
		report(t, c.dialect.String()+": "+difference.String())
	}
}

// rootCounts has the outcomes of the comparisons by past and tool.
type rootCounts struct {
	mu                           sync.Mutex
	roots, bothSucceed, areEqual map[string]int
}

func (counts *rootCounts) add(name string, c *initComparison) {
	counts.mu.Lock()
	defer counts.mu.Unlock()
	counts.roots[name]++
	if c.stockFailure == "" && c.ourFailure == "" {
		counts.bothSucceed[name]++
		if len(c.differences) == 0 {
			counts.areEqual[name]++
		}
	}
}

func (counts *rootCounts) String() string {
	counts.mu.Lock()
	defer counts.mu.Unlock()
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(counts.roots)) {
		fmt.Fprintf(&text, "%s: %d root modules, both succeed with %d, %d are equal\n", name, counts.roots[name], counts.bothSucceed[name], counts.areEqual[name])
	}
	return text.String()
}
