package treewalk

import (
	"path"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// A replace block in cotter.hcl replaces the source of module calls, also in packages. Only ParseCall applies
// it. From then on, a call is what it would be if the project itself had made it with the replacement. What the
// configuration has is needed for modules.json, where stock tools look for it, and for the lock.
//
// A directory that replaces a package is one of the project's own modules. Its entry in the lock has no hashes,
// because the directory belongs to the same repository as the lock.

// Replaced is a call as the configuration has it, and the block by which its source is replaced.
type Replaced struct {
	By   *policy.Replacement
	Call config.Call
	From callsource.Source
}

// replacement returns the source and the version argument that replace those of a call. The directory in the
// package is kept, and a ref, a tag or a constraint if the replacement has none and can have it.
func replacement(from callsource.Source, by *policy.Replacement, address string, dialect config.Dialect) (source string, version *string, err error) {
	parsed, err := dialect.Parser().ParseModuleSource(address)
	if err != nil {
		return "", nil, err
	}
	subdir, isPinned := from.Subdir(), by.Version != ""
	switch to := parsed.(type) {
	case addrs.ModuleSourceLocal:
		return localSource(path.Join(string(to), subdir)), nil, nil
	case addrs.ModuleSourceRegistry:
		to.Subdir, err = addrs.JoinSubdir(to.Subdir, subdir)
		parsed = to
	case addrs.ModuleSourceRemote:
		to.Subdir, err = addrs.JoinSubdir(to.Subdir, subdir)
		pins := []string{"ref", "rev", "tag", "digest"}
		isPinned = isPinned || slices.ContainsFunc(append(pins, "version"), to.Package.HasArg)
		for _, name := range pins {
			if value := from.Repository.Arg(name); value != "" && !isPinned && from.Repository.Getter() == to.Package.Getter() {
				to.Package = to.Package.WithArg(name, value)
			}
		}
		parsed = to
	}
	switch {
	case by.Version != "":
		version = &by.Version
	case from.HasConstraint && !isPinned && callsource.OffersVersions(parsed):
		version = &from.Constraint
	}
	return parsed.String(), version, err
}

func localSource(dir string) string {
	if strings.HasPrefix(dir, "../") {
		return dir
	}
	return "./" + dir
}

// recordedVersion returns the version in modules.json for a module whose source is replaced: one that meets the
// constraint in the configuration, because stock tools compare it. If that is not the selected version, it is
// marked, so that no run takes it for a version in use.
func (r *Replaced) recordedVersion(v versions.Version) string {
	if v.IsZero() || !r.From.Want.Allows(v) {
		v = r.From.Want.Example()
	}
	return project.ReplacedVersion(v.String())
}
