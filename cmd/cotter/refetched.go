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

// jsonRefetched is a package that was downloaded although it was installed.
type jsonRefetched struct {
	// Package is the package of a module, or the location of a provider's.
	Package  string `json:"package"`
	Provider string `json:"provider,omitempty"`
	// Bytes is the number of bytes that were downloaded.
	Bytes int64 `json:"bytes"`
}

func jsonRefetches(all []cotter.Refetched) []jsonRefetched {
	var list []jsonRefetched
	for _, r := range all {
		j := jsonRefetched{Package: addrs.Redact(r.Package), Bytes: r.Bytes}
		if r.Provider != (addrs.Provider{}) {
			j.Provider = r.Provider.String()
		}
		list = append(list, j)
	}
	return list
}

// isRefetched reports whether an installed provider was downloaded only to confirm it.
func isRefetched(result *cotter.Result, p cotter.Provider) bool {
	return slices.ContainsFunc(result.Refetched, func(r cotter.Refetched) bool { return r.Provider == p.Address })
}
