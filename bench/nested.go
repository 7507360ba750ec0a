package main

import (
	"fmt"

	"github.com/cotterpin/cotter/bench/internal/report"
	"github.com/cotterpin/cotter/modtest"
)

// The number of chains of packages, of which each calls the next, and their length.
const (
	chainCount = 8
	chainDepth = 5
	chained    = chainCount * chainDepth
)

// CI systems usually have only the project and its lock. Stock tools do not lock modules or read mirrors,
// so all states are the same for them.
var (
	locked   = commands{ours: []string{"install", "--locked", "--only", "modules"}, stock: modules.stock}
	push     = commands{ours: []string{"mirror", "push"}}
	job      = phase{name: "fresh machine, lock", work: locked, keepLock: true, prepared: true, first: modules}
	mirrored = phase{name: "fresh machine, lock, mirror", work: locked, keepLock: true, prepared: true, first: modules, mirrored: true}
)

func nestedMeasured() world {
	return world{
		name:  "nested",
		about: fmt.Sprintf("%d registry calls, each the beginning of a chain of %d packages in git that call each other", chainCount, chainDepth),
		notes: []string{
			"A fresh machine has an empty cache and runs `cotter install --locked`, which checks whether each tag has moved.",
			"The mirror is an OCI registry with the same delay as the other servers.",
		},
		parts: []part{{start: startModules(chainsWorld(chainCount, chainDepth), modtest.Options{}), phases: []phase{cold, job, mirrored}}},
		goals: []report.Goal{
			report.Faster(cold.name, 8),
			report.Faster(job.name, 8),
			report.FasterThanState(job.name, cold.name, 1.5),
			report.RequestsPerPackage(job.name, chained, 3),
			report.FetchedOnce(job.name),
			report.Faster(mirrored.name, 8),
			report.FasterThanState(mirrored.name, cold.name, 1.5),
			report.RequestsPerPackage(mirrored.name, chained, 2),
			report.FetchedOnce(mirrored.name),
		},
	}
}
