package testenv

import (
	"flag"
	"maps"
	"slices"
)

// Exhaustive is the flag -exhaustive, with which .ci/run runs the tests of long tables: every row, and every combination
// of their factors. Without it, they try each value, but in fewer combinations.
var Exhaustive = flag.Bool("exhaustive", false, "run every row of long tables, and every combination of their factors")

// sampled is the part of a long table that runs without -exhaustive: one row of sampled.
const sampled = 8

// Sample returns the rows of a long table that a test runs: a sample, or all of them with -exhaustive.
func Sample[T any](rows []T) []T {
	if *Exhaustive {
		return rows
	}
	var some []T
	for i := 0; i < len(rows); i += sampled {
		some = append(some, rows[i])
	}
	return some
}

// SampleMap is Sample for the rows of a map. The sample has the row first, the one that users need
// most. SampleMap panics if there is no such row.
func SampleMap[T any](rows map[string]T, first string) map[string]T {
	names := slices.Sorted(maps.Keys(rows))
	at := slices.Index(names, first)
	names = slices.Insert(slices.Delete(names, at, at+1), 0, first)
	some := make(map[string]T)
	for _, name := range Sample(names) {
		some[name] = rows[name]
	}
	return some
}
