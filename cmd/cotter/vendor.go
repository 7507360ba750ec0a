package main

import (
	"path"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
)

func (o *output) vendored(req request, result *installer.Result) {
	switch {
	case o.json || o.quiet || len(result.Vendored) == 0:
		return
	case req.DryRun:
		o.printf("\n%s would change:\n", path.Clean(req.Vendor))
	default:
		o.printf("\nCotter has changed %s; commit it with your configuration:\n", path.Clean(req.Vendor))
	}
	for _, change := range result.Vendored {
		o.printf("- %s: %s\n", change.Dir, change.Kind)
	}
}

// reportedFiles names the different files of a vendored package relative to the root module.
func reportedFiles(p installer.PackageReport) hashing.Changes {
	if p.Vendored == "" {
		return p.Changes
	}
	below := func(names []string) []string {
		return mapped(names, func(name string) string { return path.Join(p.Vendored, name) })
	}
	return hashing.Changes{Changed: below(p.Changes.Changed), Vanished: below(p.Changes.Vanished), Added: below(p.Changes.Added)}
}
