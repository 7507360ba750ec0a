package testenv

import (
	"maps"
	"slices"
	"testing"
)

// sampled is the part of a long table that runs with -short: one row of sampled.
const sampled = 8

// Sample returns the rows of a long table that a test runs: all of them, or a sample with -short.
func Sample[T any](rows []T) []T {
	if !testing.Short() {
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
