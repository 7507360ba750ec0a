package origins

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
	"github.com/cotterpin/cotter/versions/gittags"
)

// Source is what a module is to come from: the source address and the version of a call.
type Source struct {
	Address addrs.ModuleSource
	// Repository is the package of a remote address, without the argument that has a
	// version constraint.
	Repository addrs.ModulePackage
	// HasConstraint says that Constraint, as it is written, selects among the versions of
	// the source. InAddress says that it stands in the address. Want is the same, parsed.
	HasConstraint bool
	Constraint    string
	InAddress     bool
	Want          versions.Constraints
	// FromPackage says that a package from elsewhere has the address, which must not point
	// to this machine's files.
	FromPackage bool
	// Path is the module, for warnings.
	Path addrs.Module
}

// Versions of git repositories and OCI repositories are their tags. A call asks
// for a range of them by a version argument in the source address, which stock
// tools accept:
//
//	source = "git::https://git.example.com/net.git?version=~> 1.2"
//
// or by a version argument beside it, which stock tools refuse: a run warns of
// that, and embedding tools may have a use for it.

// ErrRangeAndRef says that a source is to have a range of versions and one particular
// ref, tag or digest as well.
var ErrRangeAndRef = errors.New("a version constraint and a ref, tag or digest exclude each other")

// NewSource returns the source with an address, and the version argument beside it if
// there is one. Want is not parsed yet.
func NewSource(address addrs.ModuleSource, version string, hasVersion bool) (Source, error) {
	s := Source{Address: address, HasConstraint: hasVersion, Constraint: version}
	remote, ok := address.(addrs.ModuleSourceRemote)
	if !ok {
		return s, nil
	}
	s.Repository = remote.Package
	if !HasTags(remote.Package) {
		return s, nil // a version argument means something to its server
	}
	inAddress, err := remote.Package.Args("version")
	switch {
	case err != nil:
		return s, errors.New("the escaping of the version argument in the address is malformed")
	case len(inAddress) > 1:
		return s, errors.New("the address has two version arguments")
	case len(inAddress) > 0 && hasVersion:
		return s, errors.New("the call has a version argument both in the source address and beside it")
	case len(inAddress) > 0:
		s.Constraint, s.InAddress, s.HasConstraint = inAddress[0], true, true
	case !hasVersion:
		return s, nil
	}
	s.Repository = remote.Package.Without("version")
	for _, pin := range []string{"ref", "tag", "digest"} {
		if s.Repository.HasArg(pin) {
			return s, fmt.Errorf("%w: take the argument %q out of the address, or the constraint away", ErrRangeAndRef, pin)
		}
	}
	return s, nil
}

// HasTags reports whether a package is in a kind of repository whose tags can be
// versions.
func HasTags(pkg addrs.ModulePackage) bool {
	return pkg.Getter() == "git" || pkg.Getter() == "oci"
}

// OffersVersions reports whether an address has versions to choose from.
func OffersVersions(address addrs.ModuleSource) bool {
	switch address := address.(type) {
	case addrs.ModuleSourceRegistry:
		return true
	case addrs.ModuleSourceRemote:
		return HasTags(address.Package)
	}
	return false
}

// IsLocal reports whether the source is in the package of the module that calls it.
func (s Source) IsLocal() bool {
	_, local := s.Address.(addrs.ModuleSourceLocal)
	return local
}

// IsRemote reports whether the source is an address of a package.
func (s Source) IsRemote() bool {
	_, remote := s.Address.(addrs.ModuleSourceRemote)
	return remote
}

// SelectsVersion reports whether one of several versions is selected.
func (s Source) SelectsVersion() bool {
	_, registry := s.Address.(addrs.ModuleSourceRegistry)
	return registry || s.HasConstraint
}

// ModuleSubdir returns the directory of the source's module in its package, by the
// directory that the origin means. It may be a pattern.
func (s Source) ModuleSubdir(located string) (string, error) {
	switch address := s.Address.(type) {
	case addrs.ModuleSourceRegistry:
		subdir, err := addrs.JoinSubdir(located, address.Subdir)
		return pkgtree.CleanSubdir(subdir), err
	case addrs.ModuleSourceRemote:
		return pkgtree.CleanSubdir(address.Subdir), nil
	}
	return "", nil
}

// LockedSubdir is ModuleSubdir by an entry of the lock, which has what the origin meant.
func (s Source) LockedSubdir(entry lockfile.Module) (string, error) {
	_, located := entry.SplitPackage()
	return s.ModuleSubdir(located)
}

// FixedName is the name that two entries of the source go by if its content is never to
// change: a version, a tag that is one, the address of an archive. Branches, other tags
// and directories of this machine may change.
func (s Source) FixedName(old, entry lockfile.Module) (name string, ok bool) {
	if s.SelectsVersion() {
		return entry.Version, old.Version == entry.Version
	}
	remote, ok := s.Address.(addrs.ModuleSourceRemote)
	if !ok {
		return "", false
	}
	switch remote.Package.Getter() {
	case "git", "oci":
		name, exact := remote.Package.Ref()
		return name, exact || IsVersionTag(name, s.Address)
	case "file", "hg":
		return "", false
	}
	// An address that redirects to a repository may mean one of its branches.
	return remote.Package.Redacted(), old.Revision() == "" && entry.Revision() == ""
}

// Versioned is what the versions of the source are versions of. In a repository they
// may depend on the directory.
func (s Source) Versioned() string {
	switch address := s.Address.(type) {
	case addrs.ModuleSourceRegistry:
		return address.Package.String()
	case addrs.ModuleSourceRemote:
		return addrs.ModuleSourceRemote{Package: s.Repository, Subdir: address.Subdir}.String()
	}
	return ""
}

// OfferedBy is what offers the versions of the source, for messages.
func (s Source) OfferedBy() string {
	if address, ok := s.Address.(addrs.ModuleSourceRegistry); ok {
		return address.Package.String()
	}
	return s.Repository.Redacted()
}

// LockAddress is the source's address as the lock writes it.
func (s Source) LockAddress() string { return LockAddress(s.Address) }

// LockAddress returns an address as the lock writes it: in full, and without credentials.
func LockAddress(address addrs.ModuleSource) string {
	remote, ok := address.(addrs.ModuleSourceRemote)
	if !ok {
		return address.String()
	}
	remote.Package = remote.Package.WithoutCredentials()
	return remote.String()
}

// Mismatch says why an entry of the lock does not decide the source; "" if it does. The
// entry of a version that the constraint allows stays, whatever else is offered.
func (s Source) Mismatch(entry lockfile.Module) string {
	if entry.Source != s.LockAddress() {
		return fmt.Sprintf("the lock is for source %q", entry.Source)
	}
	if !s.SelectsVersion() {
		if entry.Version != "" {
			return fmt.Sprintf("the lock has version %q for a source without versions", entry.Version)
		}
		return ""
	}
	version, err := versions.Parse(entry.Version)
	if err != nil {
		return fmt.Sprintf("the lock has no usable version: %q", entry.Version)
	}
	if !s.Want.Allows(version) {
		return fmt.Sprintf("the locked version %s does not meet the constraint %q", version, s.Want)
	}
	return ""
}

// isTagged reports whether the source's versions are the tags of a repository.
func (s Source) isTagged() bool {
	_, remote := s.Address.(addrs.ModuleSourceRemote)
	return remote && s.HasConstraint
}

// subdir is the directory of a package that a remote address names.
func (s Source) subdir() string {
	remote, _ := s.Address.(addrs.ModuleSourceRemote)
	return remote.Subdir
}

// TagLocation returns where a version of a repository is.
func (s Source) TagLocation(v versions.Candidate) Location {
	at := Location{Package: s.Repository.WithArg("ref", "refs/tags/"+v.Ref), Revision: v.Revision}
	if s.Repository.Getter() == "oci" {
		at.Package = s.Repository.WithArg("tag", v.Ref)
	}
	return at
}

// IsVersionTag reports whether a tag has the name of a version for a source's directory, so
// that it should never move.
func IsVersionTag(name string, source addrs.ModuleSource) bool {
	subdir := Source{Address: source}.subdir()
	return len(gittags.Candidates([]gittags.Tag{{Name: name}}, subdir)) > 0
}
