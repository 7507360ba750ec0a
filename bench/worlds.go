package main

import (
	"context"
	"fmt"

	"github.com/cotterpin/cotter/bench/internal/report"
	"github.com/cotterpin/cotter/modtest"
)

// world is a kind of project, with goals for its installation.
type world struct {
	name, about string
	notes       []string
	// These say that the world is for one stock tool, or for none.
	tofuOnly, terraformOnly, oursOnly bool
	parts                             []part
	goals                             []report.Goal
}

// part is a project with its servers, and its states.
type part struct {
	start func() (servers, error)
	// roots are the project's root modules; none means the project itself.
	roots []string
	// phases are shown in this order, and measured in one project, the last one first.
	phases []phase
}

// baseline is measured in the state that a phase has left.
type baseline func(ctx context.Context, p project, runs int) (report.Row, error)

type phase struct {
	name string
	work commands
	// These say what is kept from earlier runs.
	keepCache, keepLock, keepInstalled bool
	// prepared says that all tools first run once to create what is kept, with first or else work.
	prepared bool
	first    commands
	// mirrored says that the locked packages are in a mirror that cotter reads.
	mirrored bool
	// pluginCache gives one to stock tools. It is kept if keepCache is set.
	pluginCache bool
	// copied gives cotter copies of providers, as in CI.
	copied bool
	// env are further variables, and refused says that the command must fail.
	env     []string
	refused bool
	// once says that the command runs only once, and nothing before it.
	once bool
	// projects is the number of copies that are installed at once; 0 means one.
	projects int
	// baselines are measured in the project that cotter has left.
	baselines []baseline
}

var (
	cold  = phase{name: "cold", work: modules}
	warm  = phase{name: "fresh checkout, warm cache", work: modules, keepCache: true, keepLock: true}
	again = phase{name: "again", work: modules, keepCache: true, keepLock: true, keepInstalled: true}
)

func (w world) knownTo(t tool) bool {
	return t.ours || !w.oursOnly && !(w.tofuOnly && t.name == "terraform") && !(w.terraformOnly && t.name == "tofu")
}

// usual has the goals for worlds with the phases cold, warm and again. cold is a factor.
func usual(cold float64) []report.Goal {
	return []report.Goal{
		report.Faster("cold", cold),
		report.Faster(warm.name, 40),
		report.NoRequest(warm.name),
		report.Faster(again.name, 1),
		report.NoRequest(again.name),
	}
}

const (
	manyRoots    = 300
	rootPackages = 40
	fewTags      = "5,000 tags"
	manyTags     = "50,000 tags"
	otherRefs    = 100_000
	// refBytes is a lower limit for a ref in a list: four digits of length, an ID of 40, a space, a name
	// and a newline.
	refBytes = 60
)

func worlds() []world {
	states := []phase{cold, warm, again}
	cloned := cold
	cloned.baselines = []baseline{cloneBare}
	return []world{
		{
			name:  "registry",
			about: "40 registry calls of 20 packages in git, half of which call another package",
			parts: []part{{start: startModules(registryWorld(20, 40), modtest.Options{}), phases: states}},
			goals: append(usual(8), report.RequestsPerPackage(cold.name, 20, 3)),
		},
		{
			name:  "archives",
			about: "40 calls of 40 zip archives",
			parts: []part{{start: startModules(flatWorld(40, "https://MODTEST_HOST/archives/a%d.zip", "archives/a%d.zip", 16<<10), modtest.Options{}), phases: states}},
			goals: usual(8),
		},
		{
			name:     "oci",
			about:    "40 calls of 40 packages in an OCI registry",
			notes:    []string{"Of the stock tools, only tofu supports OCI registries."},
			parts:    []part{{start: startModules(flatWorld(40, "oci://MODTEST_HOST/p%d?tag=1.0.0", "oci/p%d/1.0.0", 16<<10), modtest.Options{}), phases: states}},
			tofuOnly: true,
			goals:    usual(8),
		},
		{
			name:  "monorepo",
			about: "100 calls into one git package of 20 MB with 100 modules",
			notes: []string{"The baseline is what any tool has to transfer and unpack: `git clone --bare --depth 1` of the same tag, without any file."},
			parts: []part{{
				start:  startModules(flatWorld(100, "git::https://MODTEST_HOST/git/mono.git//modules/m%d?ref=v1.0.0", "git/mono.git/v1.0.0/modules/m%d", 0)+docsWorld(20<<20), modtest.Options{}),
				phases: []phase{cloned, warm, again},
			}},
			goals: append(usual(4), report.NearBaseline(cold.name, cloningBare, 3), report.DiskShare(cold.name, 4)),
		},
		{
			name:  "ci",
			about: "40 registry calls of 20 packages in git, each of which calls another package",
			notes: []string{"A fresh machine has the project and its lock, and runs `cotter install --locked`, which checks whether each tag has moved."},
			parts: []part{{start: startModules(ciWorld(20, 40), modtest.Options{}), phases: []phase{cold, job}}},
			goals: []report.Goal{
				report.Faster(cold.name, 8),
				report.FasterThanState(job.name, cold.name, 1.8),
				report.RequestsPerPackage(job.name, 40, 3),
				report.FetchedOnce(job.name),
			},
		},
		filesMeasured(),
		privateMeasured(),
		sshMeasured(),
		nestedMeasured(),
		rootsMeasured(),
		graphMeasured(),
		refsMeasured(),
		providersMeasured(),
		terraformProvidersMeasured(),
		copiedProvidersMeasured(),
		hostileMeasured(),
	}
}

func filesMeasured() world {
	const files = 110_000
	return world{
		name:  "files",
		about: fmt.Sprintf("One call of a git package with %d small files", files),
		parts: []part{{start: startModules(filesWorld(files), modtest.Options{}), phases: []phase{cold, warm, again}}},
		goals: []report.Goal{
			report.Faster(cold.name, 1),
			report.Faster(warm.name, 1),
			report.Faster(again.name, 1),
		},
	}
}

func rootsMeasured() world {
	return world{
		name:  "roots",
		about: fmt.Sprintf("%d root modules with four registry calls each on %d packages in git", manyRoots, rootPackages),
		notes: []string{"Cotter runs once, with `cotter install --recursive`. Stock tools run in a loop."},
		parts: []part{{start: startModules(rootsWorld(manyRoots, rootPackages), modtest.Options{}), roots: rootNames(manyRoots), phases: []phase{cold}}},
		goals: []report.Goal{
			report.Faster(cold.name, 60),
			report.FetchedOnce(cold.name),
			report.RequestsPerPackage(cold.name, rootPackages, 3),
		},
	}
}

func graphMeasured() world {
	fresh, rerun := warm, again
	fresh.baselines = []baseline{readAndHash, copyFiles}
	rerun.baselines = []baseline{readAndHash}
	return world{
		name:  "graph",
		about: "10,000 calls with four files each, all in the cache: 1,000 of 40 packages in git, and 9,000 of directories within these packages",
		notes: []string{
			"The baseline is a single-threaded loop that reads and hashes each installed file once, and does nothing else.",
			"A fresh checkout also needs to write the files, so a second baseline is a loop that copies them.",
		},
		parts: []part{{start: startModules(graphWorld(), modtest.Options{}), phases: []phase{fresh, rerun}}},
		goals: []report.Goal{
			report.NearBaseline(warm.name, readingAndHashing, 3),
			report.MemoryBelow(warm.name, 256),
			report.NoRequest(warm.name),
			report.NearBaseline(again.name, readingAndHashing, 3),
			report.MemoryBelow(again.name, 256),
			report.NoRequest(again.name),
		},
	}
}

func refsMeasured() world {
	measured := func(name string, tags int) part {
		return part{
			start:  startModules(refsWorld(), modtest.Options{ManyTags: tags, ManyRefs: otherRefs}),
			phases: []phase{{name: name, work: modules, baselines: []baseline{listAllRefs}}},
		}
	}
	return world{
		name:     "refs",
		about:    "One call of the newest 1.x version in a git repository with 5,000 or 50,000 tags and 100,000 branches and pull requests",
		notes:    []string{"Stock tools do not support version ranges for git. With git's first protocol, a client receives the list of all refs before it can request anything."},
		oursOnly: true,
		parts:    []part{measured(fewTags, 5_000), measured(manyTags, 50_000)},
		goals: []report.Goal{
			report.Linear(fewTags, manyTags),
			report.Spared(fewTags, otherRefs*refBytes),
			report.Spared(manyTags, otherRefs*refBytes),
		},
	}
}
