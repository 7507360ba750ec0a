package lockfile

import (
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/hashicorp/hcl/v2"
)

// Module is one locked module call.
type Module struct {
	// Key is the dotted path of module calls, as of addrs.Module.
	Key string
	// Version is the selected version; "" where the source has none.
	Version string
	// Source is the canonical source address, with the registry host and the
	// subdirectory, without credentials.
	Source string
	// Constraints is the call's version constraint as written; "" for none.
	Constraints string
	// Package is the immutable address of what was fetched; "" in files of
	// tools that do not record it. It pins: it is compared with the address
	// found by the source, and never fetched from by itself.
	Package string
	// Hashes are the package's, sorted, at most one of a scheme. One of them
	// at least is Strong.
	Hashes []hashing.Hash
	// Range is the block's header in the file that was read; zero for a
	// module that was set. It takes no part in comparisons.
	Range hcl.Range
}

// Equal reports whether two modules are locked alike.
func (m Module) Equal(other Module) bool {
	m, other = m.normal(), other.normal()
	return m.Key == other.Key && m.Version == other.Version && m.Source == other.Source &&
		m.Constraints == other.Constraints && m.Package == other.Package && slices.Equal(m.Hashes, other.Hashes)
}

// Hash returns the module's hash of a scheme, such as "h1"; "" if it has none.
func (m Module) Hash(scheme string) hashing.Hash {
	for _, h := range m.Hashes {
		if h.Scheme() == scheme {
			return h
		}
	}
	return ""
}

// normal is m with a sorted list of hashes of its own.
func (m Module) normal() Module {
	m.Hashes = slices.Clone(m.Hashes)
	slices.Sort(m.Hashes)
	return m
}
