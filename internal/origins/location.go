package origins

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Location is where a package can be fetched, and which of its directories the origin points to.
type Location struct {
	Package addrs.ModulePackage
	Subdir  string
	// Revision is what the origin must deliver, or "" if it is not known.
	Revision string
	// answer is the registry's answer that named the location, and asked is the registry package
	// that was looked up. answer is nil if the configuration named the location.
	answer *registryclient.Location
	asked  addrs.ModuleRegistryPackage
}

// FromServer reports whether a server named the location.
func (at Location) FromServer() bool { return at.answer != nil }

// isHosted reports whether the registry hosts the package itself.
func (at Location) isHosted() bool { return at.answer != nil && at.answer.Direct }

// origin returns the server that named the location, or "" if the configuration named it.
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

// repository is the key of a listing of tags.
type repository struct {
	address     addrs.ModulePackage
	fromPackage bool
}

func (s Source) repository() repository { return repository{s.Repository, s.FromPackage} }

func (r repository) request() getmodules.Request {
	return getmodules.Request{Package: r.address, FromPackage: r.fromPackage}
}

// reference is the key of a query for the meaning of a ref.
type reference struct {
	pkg                     addrs.ModulePackage
	fromServer, fromPackage bool
	// locked is the locked commit if the ref in the address may abbreviate it, and "" otherwise.
	locked string
}
