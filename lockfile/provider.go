package lockfile

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// Provider is one locked provider.
type Provider struct {
	Address addrs.Provider
	// Version is the selected version.
	Version string
	// Constraints are those of all modules together, in the form in which stock tools
	// write them; "" if no module has one.
	Constraints string
	// Hashes are those of the packages for all platforms that are known, sorted.
	// Unlike those of a Module there may be any number of one scheme.
	Hashes []hashing.Hash
	// Range is the block's header in the file that was read; zero for a provider
	// that was set.
	Range hcl.Range
}
