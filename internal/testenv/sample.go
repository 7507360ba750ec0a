package testenv

import (
	"maps"
	"slices"
	"testing"
)

// sampled is the part of a long table that go test -short runs: one row of sampled.
const sampled = 8

// Sample returns the rows of a long table that a test runs: all of them, and a sample with -short.
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

// SampleMap is Sample for the rows of a map.
func SampleMap[T any](rows map[string]T) map[string]T {
	some := make(map[string]T)
	for _, name := range Sample(slices.Sorted(maps.Keys(rows))) {
		some[name] = rows[name]
	}
	return some
}
