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
	// source is nil if the address does not parse.
	source addrs.ModuleSource
	// hasConstraint says that the call has the version constraint want. repository
	// is the package of a remote source without the argument that holds the
	// constraint.
	hasConstraint bool
	want          versions.Constraints
	repository    addrs.ModulePackage
}

// parseCall parses the source and the version of a call in a module. The call is
// complete but for what the error is about.
func parseCall(caller *module, found ModuleCall, dialect Dialect) (*call, error) {
	c := &call{ModuleCall: found, path: found.pathIn(caller.path()), caller: caller}
	source, err := parseSource(found, dialect)
	if err != nil {
		return c, c.fail(evaluated(found.SourceComputed, found.Source, err))
	}
	c.source = source
	constraint, rng := found.Version, found.VersionRange
	c.hasConstraint = found.HasVersion
	if remote, ok := source.(addrs.ModuleSourceRemote); ok {
		if constraint, rng, err = c.parseRange(remote); err != nil {
			return c, c.fail(evaluated(found.SourceComputed, found.Source, err))
		}
	}
	if !c.hasConstraint {
		return c, nil
	}
	if c.want, err = versions.ParseConstraints(constraint); err != nil {
		return c, c.failAt(rng, evaluated(found.VersionComputed, found.Version, err))
	}
	return c, nil
}

func parseSource(found ModuleCall, dialect Dialect) (addrs.ModuleSource, error) {
	parser := dialect.parser()
	source, err := parser.ParseModuleSource(found.Source)
	if found.HasVersion && !offersVersions(source) {
		// The strict parser says why this is no address with versions.
		_, err = parser.ParseModuleSourceRegistry(found.Source)
	}
	if _, remote := source.(addrs.ModuleSourceRemote); err == nil && remote && found.byTest() && dialect == DialectTerraform {
		err = errors.New("a test of terraform can run modules from a local directory or a registry only")
	}
	return source, err
}

// evaluated adds the value of an argument that is an expression to an error
// about it. Sensitive values never come this far.
func evaluated(computed bool, value string, err error) error {
	if !computed {
		return err
	}
	return fmt.Errorf("the expression evaluates to %q: %w", addrs.Redact(value), err)
}

// Versions of git repositories and OCI repositories are their tags. A call asks
// for a range of them by a version argument in the source address, which stock
// tools accept:
//
//	source = "git::https://git.example.com/net.git?version=~> 1.2"
//
// or by a version argument beside it, which stock tools refuse: a run warns of
// that, and embedding tools may have a use for it.

// ErrRangeAndRef says that a call asks for a range of versions and for one
// particular ref, tag or digest as well.
var ErrRangeAndRef = errors.New("a version constraint and a ref, tag or digest exclude each other")

// parseRange finds the constraint of a call of a repository, in its address or
// beside it, and where it stands.
func (c *call) parseRange(remote addrs.ModuleSourceRemote) (constraint string, rng hcl.Range, err error) {
	c.repository = remote.Package
	if !hasTags(remote.Package) {
		return "", rng, nil // a version argument means something to its server
	}
	inAddress, err := remote.Package.Args("version")
	switch {
	case err != nil:
		return "", rng, errors.New("the escaping of the version argument in the address is malformed")
	case len(inAddress) > 1:
		return "", rng, errors.New("the address has two version arguments")
	case len(inAddress) > 0 && c.HasVersion:
		return "", rng, errors.New("the call has a version argument both in the source address and beside it")
	case len(inAddress) > 0:
		constraint, rng, c.hasConstraint = inAddress[0], c.SourceRange, true
	case c.HasVersion:
		constraint, rng = c.Version, c.VersionRange
	default:
		return "", rng, nil
	}
	c.repository = remote.Package.Without("version")
	for _, pin := range []string{"ref", "tag", "digest"} {
		if c.repository.HasArg(pin) {
			return "", rng, fmt.Errorf("%w: take the argument %q out of the address, or the constraint away", ErrRangeAndRef, pin)
		}
	}
	return constraint, rng, nil
}

// hasTags reports whether a package is in a kind of repository whose tags can be
// versions.
func hasTags(pkg addrs.ModulePackage) bool {
	return pkg.Getter() == "git" || pkg.Getter() == "oci"
}

// offersVersions reports whether a source has versions to choose from.
func offersVersions(source addrs.ModuleSource) bool {
	switch source := source.(type) {
	case addrs.ModuleSourceRegistry:
		return true
	case addrs.ModuleSourceRemote:
		return hasTags(source.Package)
	}
	return false
}

// shown returns the call's block and source as results show them: without the
// credentials in the address unless they are to be kept.
func (c *call) shown(keepCredentials bool) (ModuleCall, addrs.ModuleSource) {
	block, source := c.ModuleCall, c.source
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

// asked is what origins are asked about for the call.
func (c *call) asked() origins.Source {
	return origins.Source{Address: c.source, Repository: c.repository, HasConstraint: c.hasConstraint, FromPackage: c.fromPackage(), Path: c.path}
}

// key is the call's key in modules.json and in the lock.
func (c *call) key() string { return c.path.String() }

// own reports whether the call stands in a module of the project itself.
func (c *call) own() bool { return c.caller.pkg == nil }

// fromPackage reports whether the call stands in a package from elsewhere, whose
// addresses must not point to this machine's files.
func (c *call) fromPackage() bool { return c.caller.isElsewhere() }

// isLocal reports whether the call's module is in its caller's package.
func (c *call) isLocal() bool {
	_, local := c.source.(addrs.ModuleSourceLocal)
	return local
}

// isRemote reports whether the call's source is an address of a package.
func (c *call) isRemote() bool {
	_, remote := c.source.(addrs.ModuleSourceRemote)
	return remote
}

// selectsVersion reports whether the call selects one of several versions.
func (c *call) selectsVersion() bool {
	_, registry := c.source.(addrs.ModuleSourceRegistry)
	return registry || c.hasConstraint
}

// versioned is what the versions of a call are versions of. In a repository they
// may depend on the directory.
func (c *call) versioned() string {
	switch source := c.source.(type) {
	case addrs.ModuleSourceRegistry:
		return source.Package.String()
	case addrs.ModuleSourceRemote:
		return addrs.ModuleSourceRemote{Package: c.repository, Subdir: source.Subdir}.String()
	}
	return ""
}

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
	if c.source != nil {
		shown = addrs.Redact(c.source.ForDisplay())
	}
	return &ModuleError{Path: c.path, Source: shown, Range: rng, Err: err}
}

// lockSource is the call's source address as the lock writes it: in full, and
// without credentials.
func (c *call) lockSource() string { return lockAddress(c.source) }

func lockAddress(source addrs.ModuleSource) string {
	remote, ok := source.(addrs.ModuleSourceRemote)
	if !ok {
		return source.String()
	}
	remote.Package = remote.Package.WithoutCredentials()
	return remote.String()
}

// mismatch says why a lock entry does not decide the call; "" if it does. The
// entry of a version that the constraint allows stays, whatever else is offered.
func (c *call) mismatch(entry lockfile.Module) string {
	if entry.Source != c.lockSource() {
		return fmt.Sprintf("the lock is for source %q", entry.Source)
	}
	if !c.selectsVersion() {
		if entry.Version != "" {
			return fmt.Sprintf("the lock has version %q for a source without versions", entry.Version)
		}
		return ""
	}
	version, err := versions.Parse(entry.Version)
	if err != nil {
		return fmt.Sprintf("the lock has no usable version: %q", entry.Version)
	}
	if !c.want.Allows(version) {
		return fmt.Sprintf("the locked version %s does not meet the constraint %q", version, c.want)
	}
	return ""
}

// constraintChanged says how a call's constraint differs from its entry's.
func (c *call) constraintChanged(entry lockfile.Module) string {
	return fmt.Sprintf("the lock was made for the constraint %q, the configuration says %q", entry.Constraints, c.want)
}

// constraintsBeside warns of calls that stock tools refuse because they have a
// version argument beside an address that is not a registry's; "" if there are
// none.
func constraintsBeside(modules []*module) string {
	var places []string
	var constraint string
	for _, m := range modules {
		c := m.call
		if !c.isRemote() || !c.HasVersion {
			continue
		}
		if len(places) == maxListed {
			places = append(places, "...")
			break
		}
		constraint = orElse(constraint, c.want.String())
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
