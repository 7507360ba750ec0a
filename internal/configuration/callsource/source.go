package callsource

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Source is the parsed source address and version constraint of a module call.
type Source struct {
	Address addrs.ModuleSource
	// Directory is what the address names by its absolute path on this machine, or "".
	Directory string
	// Repository is the package of a remote address, without a version argument that is a constraint.
	Repository addrs.ModulePackage
	// Constraint is the text of the constraint, InAddress says that it is in the source address, and Want
	// is parsed.
	HasConstraint bool
	Constraint    string
	InAddress     bool
	Want          versions.Constraints
	// Recorded is what the lock has as the constraint: Want, or what the caller says about Allowed.
	Recorded versions.Constraints
	// Allowed narrows Want. It may be nil.
	Allowed func(versions.Version) bool
	// FromPackage says that the address is in a package from elsewhere. It must not point to files on this
	// machine.
	FromPackage bool
	// PackageOrigin is where that package came from, by its lock entry. It decides to which hosts the
	// address may point.
	PackageOrigin string
	// Literal says that the project's own configuration has the address as it stands, so a lock shows its
	// arguments.
	Literal bool
	Path    addrs.Module
}

// The versions of a git or OCI repository are its tags. A call selects a range of them with a version
// argument in the source address, which stock tools accept:
//
//	source = "git::https://git.example.com/net.git?version=~> 1.2"
//
// or next to it, which stock tools refuse and a run warns about.

// ErrRangeAndRef says that a source has a version constraint, and also a ref, tag or digest.
var ErrRangeAndRef = errors.New("a version constraint and a ref, tag or digest exclude each other")

// NewSource returns the source for a call, whose version argument may be nil. It does not parse Want.
func NewSource(address addrs.ModuleSource, version *string) (Source, error) {
	s := Source{Address: address}
	if version != nil {
		s.HasConstraint, s.Constraint = true, *version
	}
	remote, ok := address.(addrs.ModuleSourceRemote)
	if !ok {
		return s, nil
	}
	s.Repository, s.Directory = remote.Package, remote.Package.LocalDirectory()
	if !HasTags(remote.Package) {
		return s, nil // a version argument is meant for the server
	}
	inAddress, err := remote.Package.Args("version")
	switch {
	case err != nil:
		return s, errors.New("the escaping of the version argument in the address is malformed")
	case len(inAddress) > 1:
		return s, errors.New("the address has two version arguments")
	case len(inAddress) > 0 && version != nil:
		return s, errors.New("the call has two version arguments, one in the source address and one next to it")
	case len(inAddress) > 0:
		s.Constraint, s.InAddress, s.HasConstraint = inAddress[0], true, true
	case version == nil:
		return s, nil
	}
	s.Repository = remote.Package.Without("version")
	for _, pin := range []string{"ref", "tag", "digest"} {
		if s.Repository.HasArg(pin) {
			return s, fmt.Errorf("%w: remove the argument %q from the address, or remove the constraint", ErrRangeAndRef, pin)
		}
	}
	return s, nil
}

// HasTags reports whether tags can be versions: of git or OCI.
func HasTags(pkg addrs.ModulePackage) bool {
	return pkg.Getter() == "git" || pkg.Getter() == "oci"
}

func OffersVersions(address addrs.ModuleSource) bool {
	switch address := address.(type) {
	case addrs.ModuleSourceRegistry:
		return true
	case addrs.ModuleSourceRemote:
		return HasTags(address.Package)
	}
	return false
}

// MayOfferVersions is OffersVersions, but also true for kinds of packages that only the program knows.
func MayOfferVersions(address addrs.ModuleSource) bool {
	remote, ok := address.(addrs.ModuleSourceRemote)
	return OffersVersions(address) || ok && IsOfProgram(remote.Package)
}

// IsOfProgram reports whether a package is of a kind that can only be one of the program's own.
func IsOfProgram(pkg addrs.ModulePackage) bool {
	switch pkg.Getter() {
	case "file", "git", "hg", "http", "https", "oci", "s3", "gcs", "ssh", "":
		return false
	}
	return true
}

// IsLocal reports whether the source has no package of its own, and so no lock entry: a directory in the
// calling module's package, or a linked one.
func (s Source) IsLocal() bool {
	_, local := s.Address.(addrs.ModuleSourceLocal)
	return local || s.IsLinked()
}

// IsLinked reports whether the source is a directory of this machine, to which the call's directory links.
// In a package from elsewhere, it is refused like that of any other package.
func (s Source) IsLinked() bool { return s.Directory != "" && !s.FromPackage }

func (s Source) IsRemote() bool {
	_, remote := s.Address.(addrs.ModuleSourceRemote)
	return remote
}

// SelectsVersion reports whether one of several versions is selected.
func (s Source) SelectsVersion() bool {
	_, registry := s.Address.(addrs.ModuleSourceRegistry)
	return registry || s.HasConstraint
}

// ModuleSubdir returns the directory of the module in its package, possibly a pattern. located is where the
// origin points to, which counts only for registry sources.
func (s Source) ModuleSubdir(located string) (string, error) {
	switch address := s.Address.(type) {
	case addrs.ModuleSourceRegistry:
		subdir, err := addrs.JoinSubdir(located, address.Subdir)
		return pathsafe.CleanSubdir(subdir), err
	case addrs.ModuleSourceRemote:
		return pathsafe.CleanSubdir(address.Subdir), nil
	}
	return "", nil
}

// LockedSubdir is ModuleSubdir with the origin's directory of a lock entry.
func (s Source) LockedSubdir(entry lockfile.Module) (string, error) {
	return s.ModuleSubdir(entry.Package.Subdir)
}

// Versioned is the address that versions belong to: of a repository with the directory, on which they may
// depend.
func (s Source) Versioned() string {
	switch address := s.Address.(type) {
	case addrs.ModuleSourceRegistry:
		return address.Package.String()
	case addrs.ModuleSourceRemote:
		return addrs.ModuleSourceRemote{Package: s.Repository, Subdir: address.Subdir}.String()
	}
	return ""
}

// OfferedBy names what offers the versions, for messages.
func (s Source) OfferedBy() string {
	if address, ok := s.Address.(addrs.ModuleSourceRegistry); ok {
		return address.Package.String()
	}
	return s.Repository.Redacted()
}

// LockAddress returns the address as an installation writes it into the lock.
func (s Source) LockAddress() addrs.ModuleSource { return addrs.LockForm(s.Address, s.Literal) }

// IsOf reports whether a lock entry is for the source address, as far as the entry shows it.
func (s Source) IsOf(entry lockfile.Module) bool { return addrs.IsRecord(entry.Source, s.Address) }

// Hidden names the parts of the address that its lock entry does not show; nil if it shows all.
func (s Source) Hidden(entry lockfile.Module) []string {
	return addrs.Hidden(s.Address, entry.Source == addrs.LockForm(s.Address, true))
}

// Mismatch returns why a lock entry does not decide the source, or "". As long as the constraint allows its
// version, it decides, whatever else is offered.
func (s Source) Mismatch(entry lockfile.Module) string {
	if !s.IsOf(entry) {
		text := fmt.Sprintf("the lock is for source %q", entry.Source)
		if entry.Source != nil && s.Address != nil && addrs.Redact(entry.Source.String()) == addrs.Redact(s.LockAddress().String()) {
			text += " with other values: " + strings.Join(addrs.Differing(entry.Source, s.LockAddress()), ", ")
		}
		return text
	}
	if !s.SelectsVersion() {
		if !entry.Version.IsZero() {
			return fmt.Sprintf("the lock has version %s for a source without versions", entry.Version)
		}
		return ""
	}
	switch {
	case entry.Version.IsZero():
		return "the lock has no usable version"
	case IsOfProgram(s.Repository) && entry.Revision() == "":
		return "the lock does not say which revision has its version"
	case !s.Want.Allows(entry.Version):
		return fmt.Sprintf("the locked version %s does not meet the constraint %q", entry.Version, s.Want)
	case !s.Allows(entry.Version):
		return fmt.Sprintf("this program does not allow the locked version %s", entry.Version)
	}
	return ""
}

func (s Source) Allows(v versions.Version) bool {
	return s.Want.Allows(v) && (s.Allowed == nil || s.Allowed(v))
}

func (s Source) IsTagged() bool {
	_, remote := s.Address.(addrs.ModuleSourceRemote)
	return remote && s.HasConstraint
}

// Subdir is that in the address; "" for local paths.
func (s Source) Subdir() string {
	if registry, ok := s.Address.(addrs.ModuleSourceRegistry); ok {
		return registry.Subdir
	}
	return s.RemoteSubdir()
}

// RemoteSubdir is that of a remote address; "" for others.
func (s Source) RemoteSubdir() string {
	remote, _ := s.Address.(addrs.ModuleSourceRemote)
	return pathsafe.CleanSubdir(remote.Subdir)
}
