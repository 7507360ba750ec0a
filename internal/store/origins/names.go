package origins

import (
	"cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// FixedName returns the name that two lock entries share if the content under it must never change: a
// version, a version tag, or the address of an archive. Branches, other tags and archives on this machine
// may change.
func FixedName(s callsource.Source, old, entry lockfile.Module) (name string, ok bool) {
	if s.SelectsVersion() {
		return entry.Version.String(), old.Version == entry.Version
	}
	remote, ok := s.Address.(addrs.ModuleSourceRemote)
	if !ok {
		return "", false
	}
	switch remote.Package.Getter() {
	case "git", "oci":
		name, exact := remote.Package.Ref()
		if !exact && isVersionTag(name, s.Address) {
			return "tag " + git.Short(name), true
		}
		return name, exact
	case "file", "hg":
		return "", false
	}
	// An address that redirects to a repository may point to one of its branches.
	return remote.Package.Redacted(), old.Revision() == "" && entry.Revision() == ""
}

// TagLocation returns where the package of a tag is that is a version. In a kind of the program's own, only the revision
// names it.
func TagLocation(s callsource.Source, v versions.Candidate) Location {
	switch {
	case callsource.IsOfProgram(s.Repository):
		return Location{Package: s.Repository, Revision: cmp.Or(v.Revision, v.Ref), tag: v.Ref}
	case s.Repository.Getter() == "oci":
		return Location{Package: s.Repository.WithArg("tag", v.Ref), Revision: v.Revision}
	}
	return Location{Package: s.Repository.WithArg("ref", "refs/tags/"+v.Ref), Revision: v.Revision}
}

// isVersionTag reports whether a tag is a version for a source's directory, which should never move.
func isVersionTag(name string, source addrs.ModuleSource) bool {
	subdir := callsource.Source{Address: source}.RemoteSubdir()
	return len(versions.FromGitTags([]versions.GitTag{{Name: name}}, subdir)) > 0
}
