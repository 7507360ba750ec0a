package treewalk

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// Call is a module call with its parsed source and version. It does not change after [ParseCall].
type Call struct {
	config.Call
	// Path is that of the called module, and Caller the module that contains the block.
	Path   addrs.Module
	Caller *Module
	// From is the source; its Address is nil if it does not parse.
	From callsource.Source
	// Mark stands for the parts of the source address that locks do not show; "" if they show all.
	Mark string
	// Replaced is the call as the configuration has it, if its source is replaced.
	Replaced *Replaced
}

// ParseCall parses a call in a module, and replaces its source if a replacement applies. After an error, the
// call lacks only what the error is about. A call in a package is unlocked only if that of the package is.
func ParseCall(caller *Module, found config.Call, dialect config.Dialect, replacements *policy.Replacements) (*Call, error) {
	found.Unlocked = caller.Call != nil && caller.Call.Unlocked || found.Unlocked && caller.IsInProject()
	c, err := (&Call{Call: found, Path: found.PathIn(caller.Path()), Caller: caller}).parse(dialect)
	if err != nil {
		return c, err
	}
	return c.replace(replacements, dialect)
}

func (c *Call) replace(all *policy.Replacements, dialect config.Dialect) (*Call, error) {
	by, address, err := all.Find(c.From.Address)
	if by == nil {
		return c, nil
	}
	fail := func(err error) error {
		return c.Fail(fmt.Errorf("%s:%d replaces it: %w", by.Range.Filename, by.Range.Start.Line, err))
	}
	block := c.Call
	block.SourceComputed, block.VersionComputed = false, false
	if err == nil {
		block.Source, block.Version, err = replacement(c.From, by, address, dialect)
	}
	if err == nil && c.From.Want.Example().IsZero() {
		err = fmt.Errorf("no version can meet the constraint %q of the call", c.From.Want)
	}
	if err != nil {
		return c, fail(err)
	}
	effective := &Call{Call: block, Path: c.Path, Caller: c.Caller, Replaced: &Replaced{by, c.Call, c.From}}
	if _, err := effective.parse(dialect); err != nil {
		if module, ok := errors.AsType[*config.ModuleError](err); ok {
			err = module.Err
		}
		return c, fail(err)
	}
	return effective, nil
}

func (c *Call) parse(dialect config.Dialect) (*Call, error) {
	found := c.Call
	source, err := parseSource(found, dialect)
	if err == nil && c.Replaced == nil {
		err = checkTest(found, source, dialect)
	}
	if err == nil {
		c.From, err = callsource.NewSource(source, found.Version)
	}
	c.From.Path, c.From.Allowed = c.Path, found.Allowed
	c.From.Literal = !found.SourceComputed && (c.Replaced != nil || c.Caller.IsInProject())
	if c.Caller.IsElsewhere() && c.Replaced == nil {
		c.From.FromPackage, c.From.PackageOrigin = true, c.Caller.Origin()
	}
	if err != nil {
		return c, c.Fail(evaluated(found.SourceComputed, found.Source, err))
	}
	if !c.From.HasConstraint {
		if found.Allowed != nil && found.Constraints != "" && c.From.SelectsVersion() {
			c.From.Recorded, err = versions.ParseConstraints(found.Constraints)
		}
		return c, c.FailIf(err)
	}
	rng := found.VersionRange
	if c.From.InAddress {
		rng = found.SourceRange
	}
	if c.From.Want, err = versions.ParseConstraints(c.From.Constraint); err != nil {
		return c, c.FailAt(rng, evaluated(found.VersionComputed, c.From.Constraint, err))
	}
	c.From.Recorded = c.From.Want
	return c, nil
}

func parseSource(found config.Call, dialect config.Dialect) (addrs.ModuleSource, error) {
	parser := dialect.Parser()
	source, err := parser.ParseModuleSource(found.Source)
	if found.Version != nil && !callsource.MayOfferVersions(source) {
		// The strict parser explains why the source cannot have a version.
		_, err = parser.ParseModuleSourceRegistry(found.Source)
	}
	return source, err
}

func checkTest(found config.Call, source addrs.ModuleSource, dialect config.Dialect) error {
	if _, remote := source.(addrs.ModuleSourceRemote); remote && len(found.Prefix) > 0 && dialect == config.DialectTerraform {
		return errors.New("a test of terraform can run modules from a local directory or a registry only")
	}
	return nil
}

// evaluated adds the value of a computed argument to an error. Sensitive values were rejected before.
func evaluated(computed bool, value string, err error) error {
	if !computed {
		return err
	}
	return fmt.Errorf("the expression evaluates to %q: %w", addrs.Redact(value), err)
}

// BlockOf reconstructs the module block of a lock entry. The constraint is in the source address if that has an
// argument for it.
func BlockOf(entry lockfile.Module) config.Call {
	name := entry.Key[strings.LastIndexByte(entry.Key, '.')+1:]
	block := config.Call{Name: name, Source: entry.Source.String()}
	remote, ok := entry.Source.(addrs.ModuleSourceRemote)
	if inAddress := ok && callsource.HasTags(remote.Package) && remote.Package.HasArg("version"); !entry.Constraints.IsZero() && !inAddress {
		block.Version = new(entry.Constraints.String())
	}
	return block
}

// Key returns the path with dots, as in the lock and modules.json.
func (c *Call) Key() string { return c.Path.String() }

// IsOwn reports whether the call is in one of the project's own modules, or is what the project has in its place.
func (c *Call) IsOwn() bool { return c.Caller.Package == nil || c.Replaced != nil }

// Written returns the call as the configuration has it, before a replacement.
func (c *Call) Written() (config.Call, callsource.Source) {
	if c.Replaced != nil {
		return c.Replaced.Call, c.Replaced.From
	}
	return c.Call, c.From
}

// Replaces returns the address that the source replaces, as the lock writes it; nil if it replaces none.
func (c *Call) Replaces() addrs.ModuleSource {
	if c.Replaced == nil {
		return nil
	}
	return c.Replaced.From.LockAddress()
}

// ReplacesAsIn reports whether an entry says rightly which address the source of the call replaces, if it does.
func (c *Call) ReplacesAsIn(entry lockfile.Module) bool {
	if c.Replaced == nil {
		return entry.Replaces == nil
	}
	return c.Replaced.From.IsOf(lockfile.Module{Source: entry.Replaces})
}

// IsDirectory reports whether a directory of the project replaces the source.
func (c *Call) IsDirectory() bool {
	_, local := c.From.Address.(addrs.ModuleSourceLocal)
	return local && c.Replaced != nil
}

// Shown returns the block and the source for results, without credentials unless keepCredentials is set.
func (c *Call) Shown(keepCredentials bool) (config.Call, addrs.ModuleSource) {
	block, source := c.Call, c.From.Address
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

// Fail returns an error about the call and its source. It is a *[config.ModuleError], like those of FailIf, FailVersion and
// FailAt.
func (c *Call) Fail(err error) error { return c.FailAt(c.PlaceOfSource(), err) }

// FailIf returns nil if err is nil.
func (c *Call) FailIf(err error) error {
	if err == nil {
		return nil
	}
	return c.Fail(err)
}

// FailVersion returns an error about the version that the call selects.
func (c *Call) FailVersion(err error) error {
	return c.FailAt(c.PlaceOfVersion(), err)
}

// PlaceOfSource returns the range of the call if a reader of configuration does not report that of the source.
func (c *Call) PlaceOfSource() hcl.Range {
	if c.SourceRange.Filename == "" {
		return c.Range
	}
	return c.SourceRange
}

// PlaceOfVersion returns the range of the version argument, or else that of the source.
func (c *Call) PlaceOfVersion() hcl.Range {
	if c.VersionRange.Filename == "" {
		return c.PlaceOfSource()
	}
	return c.VersionRange
}

// FailAt returns an error about an argument of the call.
func (c *Call) FailAt(rng hcl.Range, err error) error {
	shown := addrs.Redact(c.Source)
	if c.From.Address != nil {
		shown = addrs.Redact(c.From.Address.ForDisplay())
	}
	if c.Replaced != nil {
		shown += " in place of " + addrs.Redact(c.Replaced.From.Address.ForDisplay())
	}
	dir := ""
	if c.Caller != nil { // a session may not know it
		dir = c.Caller.FinalPath
	}
	return &config.ModuleError{Path: c.Path, Source: shown, Range: rng, Dir: dir, Err: err}
}
