package main

import (
	"github.com/cotterpin/cotter"
)

// done is what a run did that succeeded, in one word. It is the type of the last
// value that --json prints.
func done(req cotter.Request) string {
	switch {
	case req.DryRun:
		return "planned"
	case req.LockOnly:
		return "locked"
	case req.WriteVendor:
		return "vendored"
	}
	return "installed"
}

// planned prints the end of a dry run.
func (o *output) planned(result *cotter.Result, p *progress) error {
	if o.json {
		return o.writeJSON(jsonResult("planned", result))
	}
	o.printf("\n%s: %s into the cache. This was a dry run: the project is as it was.\n",
		modulesFor(result), count(p.fetched, "package")+" fetched")
	if len(result.LockChanges)+len(result.ProviderChanges) == 0 {
		o.printf("%s would not change.\n", result.LockFile)
		return nil
	}
	o.printf("%s would change:\n", result.LockFile)
	o.changes(result.LockChanges)
	o.providerChanges(result.ProviderChanges)
	return nil
}

// lockedOnly tells people that they have a lock and no modules yet.
func (o *output) lockedOnly(result *cotter.Result) {
	if !o.json && len(result.Modules) > 0 {
		o.printf("\nOnly the lock was written. `cotter install` installs what it says.\n")
	}
}
