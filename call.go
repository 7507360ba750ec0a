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

// call is a module call with its parsed source and version. It does not change after
// parseCall has returned it.
type call struct {
	ModuleCall
	// path is the path of the called module, and caller the module that contains the block.
	path   addrs.Module
	caller *module
	// from is the source of the module. Its Address is nil if it does not parse.
	from origins.Source
}

// parseCall parses the source and the version of a call in a module. After an error, the
// call lacks only what the error is about.
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
		// The strict parser explains why the source cannot have a version.
		_, err = parser.ParseModuleSourceRegistry(found.Source)
	}
	if _, remote := source.(addrs.ModuleSourceRemote); err == nil && remote && found.byTest() && dialect == DialectTerraform {
		err = errors.New("a test of terraform can run modules from a local directory or a registry only")
	}
	return source, err
}

// ErrRangeAndRef says that a call asks both for a range of versions and for one particular
// ref, tag or digest.
var ErrRangeAndRef = origins.ErrRangeAndRef

// evaluated adds the value of a computed argument to an error about it. Sensitive values
// were rejected before.
func evaluated(computed bool, value string, err error) error {
	if !computed {
		return err
	}
	return fmt.Errorf("the expression evaluates to %q: %w", addrs.Redact(value), err)
}

// shown returns the call's block and source for results. Credentials in the address are
// removed unless keepCredentials is set.
func (c *call) shown(keepCredentials bool) (ModuleCall, addrs.ModuleSource) {
	block, source := c.ModuleCall, c.from.Address
	remote, isRemote := source.(addrs.ModuleSourceRemote)
	switch {
	case keepCredentials:
	case isRemote && remote.Package.HoldsCredentials():
		remote.Package = remote.Package.WithoutCredentials()
		block.Source, source = addrs.Redact(block.Source), remote
	case source == nil: // it does not parse, so credentials may be anywhere in it
		block.Source = addrs.Redact(block.Source)
	}
	return block, source
}

// key returns the call's key in modules.json and in the lock.
func (c *call) key() string { return c.path.String() }

// asCaller returns the call with its constraint, as it appears in errors and results.
func (c *call) asCaller() *Caller {
	block, _ := c.shown(false)
	return &Caller{Path: c.path, Call: block, Constraint: c.from.Want.String()}
}

// excludes reports whether the call's constraint does not allow the version of an entry for the
// same source.
func (c *call) excludes(entry lockfile.Module) bool {
	version, err := versions.Parse(entry.Version)
	return err == nil && entry.Source == c.from.LockAddress() && c.from.SelectsVersion() && !c.from.Want.Allows(version)
}

// own reports whether the call is in one of the project's own modules.
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

// failOnce wraps an error unless it is already about a call.
func (c *call) failOnce(err error) error {
	var module *ModuleError
	if err == nil || errors.As(err, &module) || errors.Is(err, errRefused) {
		return err
	}
	return c.fail(err)
}

// failVersion wraps an error that the version constraint caused.
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

// constraintChanged describes how a call's constraint differs from that of its entry.
func (c *call) constraintChanged(entry lockfile.Module) string {
	return fmt.Sprintf("the lock was made for the constraint %q, but the configuration says %q", entry.Constraints, c.from.Want)
}

// blockOf reconstructs the module block of a lock entry. The constraint is in the source
// address if the address has an argument for it, else in the version argument.
func blockOf(entry lockfile.Module, dialect Dialect) ModuleCall {
	name := entry.Key[strings.LastIndexByte(entry.Key, '.')+1:]
	block := ModuleCall{Name: name, Source: entry.Source, Version: entry.Constraints, HasVersion: entry.Constraints != ""}
	source, err := dialect.parser().ParseModuleSource(entry.Source)
	if remote, ok := source.(addrs.ModuleSourceRemote); ok && err == nil && remote.Package.HasArg("version") {
		block.HasVersion = false
	}
	return block
}

// pathOf returns the path of a key that is known to be valid.
func pathOf(key string) addrs.Module {
	path, _ := addrs.ParseModule(key)
	return path
}

// isKey reports whether a key from a file can be the key of a module call.
func isKey(key string) bool {
	path, err := addrs.ParseModule(key)
	return err == nil && !path.IsRoot()
}

func nameOf(p addrs.Module) string {
	if p.IsRoot() {
		return "the root module"
	}
	return p.String()
}
