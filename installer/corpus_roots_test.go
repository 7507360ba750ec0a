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
	"text/tabwriter"
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
// repositories, with its lock and without it, and logs a table, which it returns before it has any rows.
func testRepositories(t *testing.T, dir string, every int) *rootTable {
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
		return &rootTable{}
	}
	workers := runtime.GOMAXPROCS(0)
	pool := make(chan *rootWorld, workers)
	for range workers {
		pool <- newRootWorld(t, all)
	}
	table, tools := &rootTable{rows: map[string]*rootRow{}}, stockTools(t)
	t.Cleanup(func() { t.Log(table.String()) })
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
					table.add(past+", "+dialect.String(), below, one.initComparison)
				}
			})
		}
	}
	return table
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

// rootTable counts the outcomes of all comparisons.
type rootTable struct {
	mu   sync.Mutex
	rows map[string]*rootRow // by past and tool
}

// rootRow has the counts for one past and one tool.
type rootRow struct {
	roots, bothSucceed, bothFail, onlyStock, onlyOurs, equal int
	requests, archives                                       int // after ours
	kinds                                                    map[string]int
	examples                                                 map[string]string
}

func (table *rootTable) add(name, root string, c *initComparison) {
	table.mu.Lock()
	defer table.mu.Unlock()
	row := table.rows[name]
	if row == nil {
		row = &rootRow{kinds: map[string]int{}, examples: map[string]string{}}
		table.rows[name] = row
	}
	row.roots++
	switch {
	case c.stockFailure != "" && c.ourFailure != "":
		row.bothFail++
	case c.stockFailure != "":
		row.onlyStock++
	case c.ourFailure != "":
		row.onlyOurs++
	default:
		row.bothSucceed++
		if len(c.differences) == 0 {
			row.equal++
		}
	}
	for _, request := range c.after {
		row.requests++
		if _, path, _ := strings.Cut(request, " "); !isQuestion(path) {
			row.archives++
		}
	}
	for _, d := range c.differences {
		row.kinds[d.kind]++
		if row.examples[d.kind] == "" {
			row.examples[d.kind] = root + "\n" + shorten(d.text)
		}
	}
}

// shorten returns the first lines of a text.
func shorten(text string) string {
	const maxLines = 40
	lines := strings.SplitN(text, "\n", maxLines+1)
	return strings.Join(lines[:min(len(lines), maxLines)], "\n")
}

func (table *rootTable) String() string {
	table.mu.Lock()
	defer table.mu.Unlock()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\npast, tool\troots\tboth succeed\tequal\tboth fail\tonly stock fails\tonly ours fails\trequests after ours\tother than lists")
	for _, name := range slices.Sorted(maps.Keys(table.rows)) {
		row := table.rows[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", name, row.roots, row.bothSucceed, row.equal, row.bothFail, row.onlyStock, row.onlyOurs, row.requests, row.archives)
	}
	_ = w.Flush() // a strings.Builder always accepts
	for _, name := range slices.Sorted(maps.Keys(table.rows)) {
		row := table.rows[name]
		for _, kind := range slices.Sorted(maps.Keys(row.kinds)) {
			fmt.Fprintf(&text, "\n%s: %d with %s, for example %s\n", name, row.kinds[kind], kind, row.examples[kind])
		}
	}
	return text.String()
}
