package main

import (
	"context"
	"path"
	"slices"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/hashing"
)

func vendorCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "vendor",
		Usage:     "keep the locked modules in the repository",
		ArgsUsage: "[DIR...]",
		Description: "Writes the locked packages to a directory in the repository, removes packages that the\n" +
			"lock no longer has, and points modules.json to the directory. The setting `vendor` in\n" +
			"cotter.hcl or --vendor names the directory, relative to the root module. The sources in\n" +
			"the configuration do not change.\n" +
			"\n" +
			"If `vendor` is set, install takes the packages from the directory. It compares every\n" +
			"file with the lock, and sends no requests for them. If a lock entry changes, for\n" +
			"example by update, its package is written too. Providers are not vendored.",
		Flags: configFlags(severalFlags(append(slices.Concat(policyFlags(), mirrorFlags()),
			&cli.Flag{Name: "offline", Usage: "send no requests: use only what is vendored or cached"},
			&cli.Flag{Name: "submodules", Usage: "fetch the submodules of git repositories too"},
			&cli.Flag{Name: "cache-dir", Type: cli.String, Usage: "keep fetched packages in `DIR`"},
			acceptUnreachableFlag(),
			gitBackendFlag(),
		)...)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			req, err := request(cmd, out.env)
			if err != nil {
				return err
			}
			req.Locked, req.WriteVendor = true, true
			return installProjects(ctx, cmd, out, req)
		},
	}
}

// vendorFlag returns the flag of every command that reads installed modules.
func vendorFlag() *cli.Flag {
	return &cli.Flag{Name: "vendor", Type: cli.String, Usage: "keep the modules in `DIR`, relative to the root module, as `cotter vendor` does"}
}

// vendored prints the vendored packages that were written or removed.
func (o *output) vendored(req cotter.Request, result *cotter.Result) {
	if o.json || o.quiet || len(result.Vendored) == 0 {
		return
	}
	o.printf("\nCotter has changed %s; commit it with your configuration:\n", path.Clean(req.Vendor))
	for _, change := range result.Vendored {
		o.printf("- %s: %s\n", change.Dir, kindOfVendored(change))
	}
}

// jsonVendored is a vendored package that was written or removed.
type jsonVendored struct {
	Key string `json:"key"`
	// Dir is the package's directory, relative to the directory of the root module.
	Dir string `json:"dir"`
	// Kind is "added", "changed" or "removed".
	Kind string `json:"kind"`
}

func jsonVendorChanges(changes []cotter.VendorChange) []jsonVendored {
	var list []jsonVendored
	for _, change := range changes {
		list = append(list, jsonVendored{change.Path.String(), change.Dir, kindOfVendored(change)})
	}
	return list
}

func kindOfVendored(change cotter.VendorChange) string {
	switch {
	case change.Added:
		return "added"
	case change.Removed:
		return "removed"
	}
	return "changed"
}

// reportedFiles returns the files that verify found to be different in a package. The files
// of a vendored package have paths relative to the root module.
func reportedFiles(p cotter.PackageReport) hashing.Changes {
	if p.Vendored == "" {
		return p.Changes
	}
	below := func(names []string) []string {
		var paths []string
		for _, name := range names {
			paths = append(paths, path.Join(p.Vendored, name))
		}
		return paths
	}
	return hashing.Changes{Changed: below(p.Changes.Changed), Vanished: below(p.Changes.Vanished), Added: below(p.Changes.Added)}
}
