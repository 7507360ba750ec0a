package cotter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// call is a module call whose source and version are parsed. It does not change
// once parseCall has returned it.
type call struct {
	ModuleCall
	// path is the called module's path, and caller the module in which the block
	// stands.
	path   addrs.Module
	caller *module
	// from is what the module is to come from. Its address is nil if it does not parse.
	from origins.Source
}

// parseCall parses the source and the version of a call in a module. The call is
// complete but for what the error is about.
func parseCall(caller *module, found ModuleCall, dialect Dialect) (*call, error) {
	c := &call{ModuleCall: found, path: found.pathIn(caller.path()), caller: caller}
	source, err := parseSource(found, dialect)
	if err == nil {
		c.from, err = origins.NewSource(source, found.Version, found.HasVersion)
	}
	c.from.Path, c.from.FromPackage = c.path, caller.isElsewhere()
	if err != nil {
		return c, c.fail(evaluated(found.SourceComputed, found.Source, err))
	}
	if !c.from.HasConstraint {
		return c, nil
	}
	rng := found.VersionRange
	if c.from.InAddress {
		rng = found.SourceRange
	}
	if c.from.Want, err = versions.ParseConstraints(c.from.Constraint); err != nil {
		return c, c.failAt(rng, evaluated(found.VersionComputed, found.Version, err))
	}
	return c, nil
}

func parseSource(found ModuleCall, dialect Dialect) (addrs.ModuleSource, error) {
	parser := dialect.parser()
	source, err := parser.ParseModuleSource(found.Source)
	if found.HasVersion && !origins.OffersVersions(source) {
		// The strict parser says why this is no address with versions.
		_, err = parser.ParseModuleSourceRegistry(found.Source)
	}
	if _, remote := source.(addrs.ModuleSourceRemote); err == nil && remote && found.byTest() && dialect == DialectTerraform {
		err = errors.New("a test of terraform can run modules from a local directory or a registry only")
	}
	return source, err
}

// ErrRangeAndRef says that a call asks for a range of versions and for one
// particular ref, tag or digest as well.
var ErrRangeAndRef = origins.ErrRangeAndRef

// evaluated adds the value of an argument that is an expression to an error
// about it. Sensitive values never come this far.
func evaluated(computed bool, value string, err error) error {
	if !computed {
		return err
	}
	return fmt.Errorf("the expression evaluates to %q: %w", addrs.Redact(value), err)
}

// shown returns the call's block and source as results show them: without the
// credentials in the address unless they are to be kept.
func (c *call) shown(keepCredentials bool) (ModuleCall, addrs.ModuleSource) {
	block, source := c.ModuleCall, c.from.Address
	remote, isRemote := source.(addrs.ModuleSourceRemote)
	switch {
	case keepCredentials:
	case isRemote && remote.Package.HoldsCredentials():
		remote.Package = remote.Package.WithoutCredentials()
		block.Source, source = addrs.Redact(block.Source), remote
	case source == nil: // it does not parse, so it may be anything
		block.Source = addrs.Redact(block.Source)
	}
	return block, source
}

// key is the call's key in modules.json and in the lock.
func (c *call) key() string { return c.path.String() }

// own reports whether the call stands in a module of the project itself.
func (c *call) own() bool { return c.caller.pkg == nil }

// fail wraps an error about the call.
func (c *call) fail(err error) error {
	rng := c.Range
	if c.SourceRange.Filename != "" {
		rng = c.SourceRange
	}
	return c.failAt(rng, err)
}

func (c *call) failIf(err error) error {
	if err == nil {
		return nil
	}
	return c.fail(err)
}

// failOnce wraps an error that may be about the call already.
func (c *call) failOnce(err error) error {
	var module *ModuleError
	if err == nil || errors.As(err, &module) || errors.Is(err, errRefused) {
		return err
	}
	return c.fail(err)
}

// failVersion wraps an error for which the version constraint is at fault.
func (c *call) failVersion(err error) error {
	if c.VersionRange.Filename != "" {
		return c.failAt(c.VersionRange, err)
	}
	return c.fail(err)
}

func (c *call) failAt(rng hcl.Range, err error) error {
	shown := addrs.Redact(c.Source)
	if c.from.Address != nil {
		shown = addrs.Redact(c.from.Address.ForDisplay())
	}
	return &ModuleError{Path: c.path, Source: shown, Range: rng, Err: err}
}

// constraintChanged says how a call's constraint differs from its entry's.
func (c *call) constraintChanged(entry lockfile.Module) string {
	return fmt.Sprintf("the lock was made for the constraint %q, the configuration says %q", entry.Constraints, c.from.Want)
}

// constraintsBeside warns of calls that stock tools refuse because they have a
// version argument beside an address that is not a registry's; "" if there are
// none.
func constraintsBeside(modules []*module) string {
	var places []string
	var constraint string
	for _, m := range modules {
		c := m.call
		if !c.from.IsRemote() || !c.HasVersion {
			continue
		}
		if len(places) == maxListed {
			places = append(places, "...")
			break
		}
		constraint = orElse(constraint, c.from.Want.String())
		places = append(places, fmt.Sprintf("%s:%d (module %s)", c.VersionRange.Filename, c.VersionRange.Start.Line, c.path))
	}
	if len(places) == 0 {
		return ""
	}
	return fmt.Sprintf("tofu and terraform refuse a version argument beside a source that is not a registry's: %s; "+
		"they accept it in the address, as in \"?version=%s\"", strings.Join(places, ", "), constraint)
}

// version is the version of a module that has its package for itself; "" otherwise.
func (m *module) version() string {
	if !m.ownsPackage() {
		return ""
	}
	return m.pkg.entry.Version
}
