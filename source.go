package cotter

import (
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// parseCall parses the source and the version of a call.
func parseCall(n *node, parser addrs.Parser) error {
	source, err := parser.ParseModuleSource(n.call.Source)
	if n.call.HasVersion && !takesVersion(source) {
		// The strict parser says why this is no address with versions.
		_, err = parser.ParseModuleSourceRegistry(n.call.Source)
	}
	if err != nil {
		return n.fail(err)
	}
	n.source = source
	constraint, rng, found := n.call.Version, n.call.VersionRange, n.call.HasVersion
	if remote, ok := source.(addrs.ModuleSourceRemote); ok {
		if constraint, rng, found, err = n.parseRange(remote); err != nil {
			return n.fail(err)
		}
	}
	if !found {
		return nil
	}
	if n.want, err = versions.ParseConstraints(constraint); err != nil {
		return n.failAt(rng, err)
	}
	n.ranged = true
	return nil
}

// takesVersion reports whether a source has versions to choose from.
func takesVersion(source addrs.ModuleSource) bool {
	switch source := source.(type) {
	case addrs.ModuleSourceRegistry:
		return true
	case addrs.ModuleSourceRemote:
		return hasTags(source.Package)
	}
	return false
}

// parseRange finds the constraint of a call of a repository, in its address or
// beside it.
func (n *node) parseRange(remote addrs.ModuleSourceRemote) (constraint string, rng hcl.Range, found bool, err error) {
	n.repository, constraint, found, err = rangeArgument(remote.Package)
	rng = n.call.SourceRange
	switch {
	case err != nil:
		return "", rng, false, err
	case found && n.call.HasVersion:
		return "", rng, false, errors.New("the call has a version argument both in the source address and beside it")
	case n.call.HasVersion:
		constraint, rng, found = n.call.Version, n.call.VersionRange, true
	}
	if found {
		err = checkUnpinned(n.repository)
	}
	return constraint, rng, found, err
}
