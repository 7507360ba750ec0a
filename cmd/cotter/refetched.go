package main

import (
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
)

// refetched says which installed packages were downloaded only to confirm them, how large they were,
// and why. It is printed once per run. A package that several modules or projects have counts once.
func (o *output) refetched(result *cotter.Result) {
	var modules, providers int
	var bytes int64
	seen := make(map[string]bool)
	for _, r := range result.Refetched {
		if seen[r.Package] {
			continue
		}
		seen[r.Package] = true
		bytes += r.Bytes
		if r.Provider == (addrs.Provider{}) {
			modules++
		} else {
			providers++
		}
	}
	if modules+providers == 0 {
		return
	}
	var parts []string
	if modules > 0 {
		parts = append(parts, count(modules, "module package"))
	}
	if providers > 0 {
		parts = append(parts, count(providers, "provider"))
	}
	them, they := "them", "these are the published packages"
	switch {
	case modules == 0 && providers == 1:
		them, they = "it", "this is the signed package"
	case modules == 0:
		they = "these are the signed packages"
	case modules+providers == 1:
		them, they = "it", "this is the published package"
	}
	o.notef("Downloaded %s again (%s): %s or another user had installed %s, and nothing here proved that %s.\n",
		strings.Join(parts, " and "), size(bytes), result.Dialect, them, they)
}

// isRefetched reports whether an installed provider was downloaded only to confirm it.
func isRefetched(result *cotter.Result, p cotter.Provider) bool {
	return slices.ContainsFunc(result.Refetched, func(r cotter.Refetched) bool { return r.Provider == p.Address })
}
