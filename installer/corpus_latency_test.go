package installer_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

var delay = flag.Duration("delay", 0, "with -corpus and checked-out repositories: install each root module once without a lock, with a `DELAY` of each answer, and compare the time with the round trips that the protocols need")

// latency is the time of one cold installation.
type latency struct {
	root string
	// rounds is the number of round trips that must follow each other.
	rounds int
	// atOnce is the time without a delay, and delayed that with one.
	atOnce, delayed time.Duration
}

// bound returns the time that the round trips and our own work need.
func (l latency) bound() time.Duration { return l.atOnce + time.Duration(l.rounds)*(*delay) }

func (l latency) ratio() float64 { return l.delayed.Seconds() / l.bound().Seconds() }

// testLatency installs all root modules one after the other and logs a table.
func testLatency(t *testing.T, all *repositories, every int) {
	t.Helper()
	world := newRootWorld(t, all)
	var measured []latency
	for i, root := range all.roots {
		if i%every != 0 {
			continue
		}
		one := latency{root: strings.TrimPrefix(root, all.dir+string(filepath.Separator))}
		result, took, err := installDelayed(t, all, world, root, 0)
		if err != nil || len(result.Providers)+len(result.Modules) == 0 {
			continue
		}
		one.atOnce, one.rounds = took, rounds(result)
		if _, one.delayed, err = installDelayed(t, all, world, root, *delay); err != nil {
			t.Errorf("%s: %v", one.root, err)
			continue
		}
		measured = append(measured, one)
	}
	slices.SortFunc(measured, func(a, b latency) int { return int(1000 * (b.ratio() - a.ratio())) })
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nroot\trounds\tno delay\tdelay\tbound\tratio")
	for _, l := range measured {
		fmt.Fprintf(w, "%s\t%d\t%d ms\t%d ms\t%d ms\t%.2f\n", l.root, l.rounds, l.atOnce.Milliseconds(), l.delayed.Milliseconds(), l.bound().Milliseconds(), l.ratio())
	}
	_ = w.Flush() // a strings.Builder always accepts
	t.Log(text.String())
}

// installDelayed installs a copy of a root module without its lock, with an empty cache.
func installDelayed(t *testing.T, all *repositories, world *rootWorld, root string, answer time.Duration) (*installer.Result, time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), rootTimeout)
	defer cancel()
	below, err := filepath.Rel(all.dir, root)
	testenv.Must(t, err)
	p := &project{world: world.World, dir: t.TempDir(), state: t.TempDir()}
	testenv.Must(t, all.copyRoot(world.World, root, p.dir))
	req := request{Project: installer.Project{Dir: filepath.Join(p.dir, below), Dialect: installer.DialectOpenTofu}}
	testenv.Must(t, os.RemoveAll(filepath.Join(req.Dir, ".terraform.lock.hcl")))
	c, err := newInitComparison(p, "", world.env, req, t.TempDir())
	testenv.Must(t, err)
	c.hosts = all.hosts
	p.world.SetFaults(modtest.Fault{Delay: answer})
	in := c.installer(t)
	began := time.Now()
	req = c.request(hasRemoteBackend(ctx, req.Dir))
	result, err := in.Install(ctx, req.Project, req.InstallOptions)
	return result, time.Since(began), err
}

// rounds returns the number of round trips that must follow each other in a cold installation, if
// the services of the registries are known.
//
// A registry module needs two for its version and its location, and a git repository two for a
// commit and three for a ref: the capabilities of the server, its refs, the commit. What a module
// calls is known when it is there. The constraints of a provider are known when all modules are
// there, and its versions are asked for when it is first required. Two more are the location of
// its package and the package.
func rounds(result *installer.Result) int {
	at := map[string]int{"": 0}
	packages := map[string]int{}
	all := 0
	for _, m := range result.Modules { // sorted, so a caller is before what it calls
		here := at[m.Path[:len(m.Path)-1].String()]
		switch source := m.Source.(type) {
		case addrs.ModuleSourceRegistry:
			here = earliest(packages, source.Package.String()+m.Version.String(), here+4)
		case addrs.ModuleSourceRemote:
			here = earliest(packages, source.Package.String()+m.Version.String(), here+3)
		}
		at[m.Path.String()] = here
		all = max(all, here)
	}
	listed := 0
	for _, p := range result.Providers {
		first := all
		for _, use := range p.RequiredBy {
			first = min(first, at[use.Path.String()])
		}
		listed = max(listed, first+1)
	}
	if listed > 0 {
		all = max(all, listed) + 2
	}
	return all
}

// earliest returns when a package is there that is needed for the first or another time.
func earliest(packages map[string]int, pkg string, here int) int {
	if found, ok := packages[pkg]; ok && found < here {
		return found
	}
	packages[pkg] = here
	return here
}
