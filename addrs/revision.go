package addrs

import "strings"

// pinning describes how the addresses of one kind of source name a revision.
type pinning struct {
	// immutable is the argument that names immutable content. refs are all arguments that
	// choose a revision, the strongest first.
	immutable string
	refs      []string
	// isRevision reports whether a value of immutable can only be the full name of a
	// revision.
	isRevision func(string) bool
}

// pinnings maps the getters of sources with revisions to their pinnings.
var pinnings = map[string]pinning{
	"git": {"ref", []string{"ref"}, isObjectID},
	"hg":  {"rev", []string{"rev"}, func(s string) bool { return len(s) == 40 && isHex(s) }},
	"oci": {"digest", []string{"digest", "tag"}, func(string) bool { return true }},
}

// HasRevisions reports whether packages of this kind have revisions that an address can
// name. This is true for git and Mercurial repositories, and for repositories of OCI
// registries.
func (p ModulePackage) HasRevisions() bool {
	_, ok := pinnings[p.Getter()]
	return ok
}

// Ref returns the name by which the address chooses a revision: the ref of a git
// repository, the rev of a Mercurial repository, or the digest or else the tag of an OCI
// artifact. It is "" if the address leaves the choice to the origin. exact reports whether
// the name is the full name of the revision itself, so that it cannot mean anything else
// later.
func (p ModulePackage) Ref() (name string, exact bool) {
	kind := pinnings[p.Getter()]
	for _, argument := range kind.refs {
		if name = p.Arg(argument); name != "" {
			return name, argument == kind.immutable && kind.isRevision(name)
		}
	}
	return "", false
}

// Revision returns the commit, changeset or digest in an immutable address, such as an
// address in a lock. It is "" if the address has none. The form of the value is not
// checked.
func (p ModulePackage) Revision() string {
	kind, ok := pinnings[p.Getter()]
	if !ok {
		return ""
	}
	return p.Arg(kind.immutable)
}

// Unpinned returns the address without the arguments that choose a revision, and without
// the depth of the history to fetch.
func (p ModulePackage) Unpinned() ModulePackage {
	return p.Without("ref", "rev", "tag", "digest", "depth")
}

// isObjectID reports whether s is the full name of a git object: 40 or 64
// hexadecimal digits in lower case.
func isObjectID(s string) bool { return (len(s) == 40 || len(s) == 64) && isHex(s) }

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
