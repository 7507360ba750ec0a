package cotter

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// parseCall parses the source and the version of a call.
func parseCall(n *node, dialect Dialect) error {
	parser := dialect.parser()
	source, err := parser.ParseModuleSource(n.call.Source)
	if n.call.HasVersion && !takesVersion(source) {
		// The strict parser says why this is no address with versions.
		_, err = parser.ParseModuleSourceRegistry(n.call.Source)
	}
	if _, remote := source.(addrs.ModuleSourceRemote); err == nil && remote && n.call.byTest() && dialect == DialectTerraform {
		err = errors.New("a test of terraform can run modules from a local directory or a registry only")
	}
	if err != nil {
		return n.fail(evaluated(n.call.SourceComputed, n.call.Source, err))
	}
	n.source = source
	constraint, rng, found := n.call.Version, n.call.VersionRange, n.call.HasVersion
	if remote, ok := source.(addrs.ModuleSourceRemote); ok {
		if constraint, rng, found, err = n.parseRange(remote); err != nil {
			return n.fail(evaluated(n.call.SourceComputed, n.call.Source, err))
		}
	}
	if !found {
		return nil
	}
	if n.want, err = versions.ParseConstraints(constraint); err != nil {
		return n.failAt(rng, evaluated(n.call.VersionComputed, n.call.Version, err))
	}
	n.ranged = true
	return nil
}

// evaluated adds the value of an argument that is an expression to an error
// about it. Sensitive values never come this far.
func evaluated(computed bool, value string, err error) error {
	if !computed {
		return err
	}
	return fmt.Errorf("the expression evaluates to %q: %w", addrs.Redact(value), err)
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
