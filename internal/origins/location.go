package origins

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Location is where a package is to be fetched from, and which of its directories the
// origin means.
type Location struct {
	Package addrs.ModulePackage
	Subdir  string
	// Revision is what must come from there; "" if that is not known.
	Revision string
	// Unconfirmed says that a lock names the revision, and that no origin has confirmed it:
	// that a git store in the cache has it proves nothing.
	Unconfirmed bool
	// answer is the registry's answer that named the location, and asked the package
	// for which it was asked; answer is nil if the configuration named it.
	answer *registryclient.Location
	asked  addrs.ModuleRegistryPackage
}

// FromServer reports whether a server named the location.
func (at Location) FromServer() bool { return at.answer != nil }

// isHosted reports whether the registry has the package itself.
func (at Location) isHosted() bool { return at.answer != nil && at.answer.Direct }

// origin is the server that named the location; "" if the configuration did.
func (at Location) origin() string {
	if at.answer == nil {
		return ""
	}
	return at.answer.Origin
}

// release is one version of a registry's package.
type release struct {
	pkg     addrs.ModuleRegistryPackage
	version versions.Version
}

// repository is what makes two listings of tags the same.
type repository struct {
	address     addrs.ModulePackage
	fromPackage bool
}

func (s Source) repository() repository { return repository{s.Repository, s.FromPackage} }

func (r repository) request() getmodules.Request {
	return getmodules.Request{Package: r.address, FromPackage: r.fromPackage}
}

// reference is what makes two questions about a ref the same.
type reference struct {
	pkg                     addrs.ModulePackage
	fromServer, fromPackage bool
	// locked is the commit of the lock if the address may abbreviate it.
	locked string
}
