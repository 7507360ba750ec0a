package addrs

import "strings"

// pinning says how the addresses of one kind of source name a revision.
type pinning struct {
	// immutable is the argument that names immutable content, and refs are all
	// arguments that choose a revision, the strongest first.
	immutable string
	refs      []string
	// isRevision reports whether a value of immutable can be nothing but the
	// full name of a revision.
	isRevision func(string) bool
}

// pinnings are the kinds of source that have revisions, by their getters.
var pinnings = map[string]pinning{
	"git": {"ref", []string{"ref"}, isObjectID},
	"hg":  {"rev", []string{"rev"}, func(s string) bool { return len(s) == 40 && isHex(s) }},
	"oci": {"digest", []string{"digest", "tag"}, func(string) bool { return true }},
}

// HasRevisions reports whether packages of this kind have revisions that an
// address can name: git and Mercurial repositories, and those of OCI registries.
func (p ModulePackage) HasRevisions() bool {
	_, ok := pinnings[p.Getter()]
	return ok
}

// Ref returns the name by which the address chooses a revision: the ref of a
// git repository, the rev of a Mercurial one, the digest or else the tag of an
// OCI artifact. It is "" if the address leaves the choice to the origin. exact
// reports whether the name is the revision itself, in full, so that it can mean
// nothing else later.
func (p ModulePackage) Ref() (name string, exact bool) {
	kind := pinnings[p.Getter()]
	for _, argument := range kind.refs {
		if name = p.Arg(argument); name != "" {
			return name, argument == kind.immutable && kind.isRevision(name)
		}
	}
	return "", false
}

// Revision returns the commit, changeset or digest that an immutable address
// names, such as one of a lock; "" if it names none. It does not look whether
// the value has the form of one.
func (p ModulePackage) Revision() string {
	kind, ok := pinnings[p.Getter()]
	if !ok {
		return ""
	}
	return p.Arg(kind.immutable)
}

// Unpinned returns the address without the arguments that choose a revision, or
// how much of its history is fetched.
func (p ModulePackage) Unpinned() ModulePackage {
	return p.Without("ref", "rev", "tag", "digest", "depth")
}

// isObjectID reports whether s is the full name of a git object: 40 or 64
// hexadecimal digits in lower case.
func isObjectID(s string) bool { return (len(s) == 40 || len(s) == 64) && isHex(s) }

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
