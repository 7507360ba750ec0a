package installer_test

import (
	"context"
	"encoding/json"
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
	pasts     = flag.String("past", "lock,none", "with -corpus and checked-out repositories: the `PASTS` of each root module, as testdata/README.md says")
	stopAfter = flag.Duration("stop-after", 0, "with -corpus and checked-out repositories: leave out the root modules that are left after `TIME`; 0 means none")
	everyRoot = flag.Int("every", 1, "with -corpus and checked-out repositories: take each `N`th root module")
)

const rootTimeout = 3 * time.Minute

// testRepositories compares whole installations of each every-th root module in checked-out
// repositories and logs a table, which it returns before it has any rows.
func testRepositories(t *testing.T, dir string, pasts []string, every int) *rootTable {
	dir, err := filepath.Abs(dir)
	testenv.Must(t, err)
	all, err := readRepositories(dir)
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
	pool := make(chan *rootWorlds, workers)
	for range workers {
		pool <- newRootWorlds(t, all, slices.Contains(pasts, "adopt"))
	}
	begin, tools := time.Now(), stockTools(t)
	table := &rootTable{rows: map[string]*rootRow{}}
	t.Cleanup(func() { t.Log(table.String()) })
	for _, past := range pasts {
		for i, root := range all.roots {
			if i%every != 0 || past == "lock" && !exists(filepath.Join(root, ".terraform.lock.hcl")) {
				continue
			}
			below := strings.TrimPrefix(root, dir+string(filepath.Separator))
			t.Run(past+"/"+below, func(t *testing.T) {
				t.Parallel()
				worlds := <-pool
				defer func() { pool <- worlds }()
				if *stopAfter > 0 && time.Since(begin) > *stopAfter {
					t.Skip("-stop-after")
				}
				for dialect, binary := range tools {
					one := &rootComparison{repositories: all, worlds: worlds, root: root, past: past, dialect: dialect, binary: binary}
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

// rootWorlds are the servers of one worker. newer, which may be nil, has newer versions as well.
type rootWorlds struct {
	world, newer *modtest.World
	env, envNew  []string
}

func newRootWorlds(t *testing.T, all *repositories, newer bool) *rootWorlds {
	t.Helper()
	w := &rootWorlds{world: all.world(t, false)}
	w.env = gitEnvOf(t, all.gitConfig(w.world))
	if newer {
		w.newer = all.world(t, true)
		w.envNew = gitEnvOf(t, all.gitConfig(w.newer))
	}
	return w
}

func gitEnvOf(t *testing.T, config string) []string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "gitconfig")
	testenv.Must(t, os.WriteFile(name, []byte(config), 0o600))
	return []string{"GIT_CONFIG_GLOBAL=" + name, "GIT_CONFIG_NOSYSTEM=1"}
}

type rootComparison struct {
	*repositories
	*initComparison
	worlds  *rootWorlds
	root    string
	past    string
	dialect installer.Dialect
	binary  string
}

func (c *rootComparison) run(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), rootTimeout)
	defer cancel()
	below, err := filepath.Rel(c.repositories.dir, c.root)
	testenv.Must(t, err)
	p, other := &project{world: c.worlds.world, dir: t.TempDir(), state: t.TempDir()}, t.TempDir()
	req := request{Project: installer.Project{Dir: filepath.Join(p.dir, below), Dialect: c.dialect}}
	if c.initComparison, err = newInitComparison(p, c.binary, c.worlds.env, req, other); err != nil {
		t.Fatal(err)
	}
	c.initComparison.hosts = c.repositories.hosts
	for _, dir := range []string{p.dir, other} {
		testenv.Must(t, c.copyRoot(c.worlds.world, c.root, dir))
		c.givePast(ctx, t, filepath.Join(dir, below))
	}
	if c.past == "adopt" {
		p.world, c.env = c.worlds.newer, c.worlds.envNew
	}
	c.initComparison.run(ctx, t)
	if c.stockFailure != "" && c.ourFailure != "" {
		t.Logf("with %s, both fail. Stock:\n%s\nOurs:\n%s", c.dialect, c.stockFailure, c.ourFailure)
	}
	for _, difference := range c.differences {
		report(t, c.dialect.String()+": "+difference.String())
	}
}

// givePast changes a copy of the root module so that it has the past.
func (c *rootComparison) givePast(ctx context.Context, t *testing.T, dir string) {
	t.Helper()
	lock := filepath.Join(dir, ".terraform.lock.hcl")
	if c.past != "lock" {
		testenv.Must(t, os.RemoveAll(lock))
	}
	switch c.past {
	case "lock", "none":
	case "adopt":
		// A failure is compared later: the next init fails as well.
		_, _ = c.init(ctx, t, dir, hasRemoteBackend(dir))
	case "state":
		c.writeState(t, dir)
	default:
		t.Fatalf("-past: unknown past %q; there are lock, none, adopt and state", c.past)
	}
}

// writeState writes a local state as Terraform does. It has a resource of each provider that the
// root module names, and of one that it does not name.
func (c *rootComparison) writeState(t *testing.T, dir string) {
	t.Helper()
	one := newRepositories(dir)
	entries, err := os.ReadDir(dir)
	testenv.Must(t, err)
	for _, entry := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, entry.Name())); err == nil && isConfiguration(entry.Name()) {
			one.read(entry.Name(), text)
		}
	}
	one.providers["hashicorp/random"] = nil
	one.providers["acme/unused"] = nil
	resources := []any{}
	for _, name := range slices.Sorted(maps.Keys(one.providers)) {
		kind := name[strings.LastIndex(name, "/")+1:]
		resources = append(resources, map[string]any{
			"mode": "managed", "type": kind + "_thing", "name": "a", "instances": []any{},
			"provider": fmt.Sprintf("provider[%q]", "registry.terraform.io/"+name),
		})
	}
	text, err := json.MarshalIndent(map[string]any{
		"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "00000000-0000-0000-0000-000000000000",
		"outputs": map[string]any{}, "resources": resources,
	}, "", "  ")
	testenv.Must(t, err)
	testenv.Must(t, os.WriteFile(filepath.Join(dir, "terraform.tfstate"), append(text, '\n'), 0o644))
	if hasRemoteBackend(dir) {
		override := "terraform {\n  backend \"local\" {}\n}\n"
		testenv.Must(t, os.WriteFile(filepath.Join(dir, "corpus_override.tf"), []byte(override), 0o644))
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
