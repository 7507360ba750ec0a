package testenv

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Exhaustive is the flag -exhaustive, with which .ci/run runs the tests of long tables: every row, and every combination
// of their factors. Without it, they run the rows that the tables name: the first one of each kind.
var Exhaustive = flag.Bool("exhaustive", false, "run every row of long tables, and every combination of their factors")

// Sample returns the rows of a long table that a test runs: the first one of each kind, or all of them with -exhaustive.
func Sample[T any](rows []T, kind func(T) string) []T {
	if *Exhaustive {
		return rows
	}
	var some []T
	var seen []string
	for _, row := range rows {
		if of := kind(row); !slices.Contains(seen, of) {
			some, seen = append(some, row), append(seen, of)
		}
	}
	return some
}

// Kind returns the kind of a row that has it in its name, before a colon: "link" of "link: shallow". Any other name is a
// kind of its own, so that Sample always has its row.
func Kind(name string) string {
	kind, _, _ := strings.Cut(name, ": ")
	return kind
}

// SampleMap returns the rows of a map that a test runs: those with the names, or all of them with -exhaustive. It panics
// if a name has no row.
func SampleMap[T any](rows map[string]T, names ...string) map[string]T {
	some := make(map[string]T)
	for _, name := range names {
		row, ok := rows[name]
		if !ok {
			panic(fmt.Sprintf("there is no row %q", name))
		}
		some[name] = row
	}
	if *Exhaustive {
		return rows
	}
	return some
}

// SampleFiles is SampleMap for a list of files, whose names have no directories and no extension.
func SampleFiles(files []string, names ...string) []string {
	byName := make(map[string]string)
	for _, file := range files {
		byName[strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))] = file
	}
	return slices.Sorted(maps.Values(SampleMap(byName, names...)))
}
