package installer

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/callsource"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/hostname"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/packagedir"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// call is a module call with its parsed source and version. It does not change after parseCall.
type call struct {
	config.Call
	// path is that of the called module, and caller the module that contains the block.
	path   addrs.Module
	caller *module
	// from is the source; its Address is nil if it does not parse.
	from callsource.Source
	// mark stands for the parts of the source address that locks do not show; "" if they show all.
	mark string
	// replaced is the call as the configuration has it, if its source is replaced.
	replaced *replacedCall
}

func (p *openProject) rootModule() *module { return &module{currentPath: p.req.dir(), finalPath: "."} }

// parseCall parses a call in a module, and replaces its source if a replacement applies. After an error, the
// call lacks only what the error is about.
func parseCall(caller *module, found config.Call, dialect Dialect, replacements *policy.Replacements) (*call, error) {
	c, err := (&call{Call: found, path: found.PathIn(caller.path()), caller: caller}).parse(dialect)
	if err != nil {
		return c, err
	}
	return c.replace(replacements, dialect)
}

func (c *call) replace(all *policy.Replacements, dialect Dialect) (*call, error) {
	by, address, err := all.Find(c.from.Address)
	if by == nil {
		return c, nil
	}
	fail := func(err error) error {
		return c.fail(fmt.Errorf("%s:%d replaces it: %w", by.Range.Filename, by.Range.Start.Line, err))
	}
	block := c.Call
	block.SourceComputed, block.VersionComputed = false, false
	if err == nil {
		block.Source, block.Version, err = replacement(c.from, by, address, dialect)
	}
	if err == nil && c.from.Want.Example().IsZero() {
		err = fmt.Errorf("no version can meet the constraint %q of the call", c.from.Want)
	}
	if err != nil {
		return c, fail(err)
	}
	effective := &call{Call: block, path: c.path, caller: c.caller, replaced: &replacedCall{by, c.Call, c.from}}
	if _, err := effective.parse(dialect); err != nil {
		if module, ok := errors.AsType[*ModuleError](err); ok {
			err = module.Err
		}
		return c, fail(err)
	}
	return effective, nil
}

func (c *call) parse(dialect Dialect) (*call, error) {
	found := c.Call
	source, err := parseSource(found, dialect)
	if err == nil && c.replaced == nil {
		err = checkTest(found, source, dialect)
	}
	if err == nil {
		c.from, err = callsource.NewSource(source, found.Version)
	}
	c.from.Path, c.from.Allowed = c.path, found.Allowed
	c.from.Literal = !found.SourceComputed && (c.replaced != nil || c.caller.isInProject())
	if c.caller.isElsewhere() && c.replaced == nil {
		c.from.FromPackage, c.from.PackageOrigin = true, c.caller.origin()
	}
	if err != nil {
		return c, c.fail(evaluated(found.SourceComputed, found.Source, err))
	}
	if !c.from.HasConstraint {
		if found.Allowed != nil && found.Constraints != "" && c.from.SelectsVersion() {
			c.from.Recorded, err = versions.ParseConstraints(found.Constraints)
		}
		return c, c.failIf(err)
	}
	rng := found.VersionRange
	if c.from.InAddress {
		rng = found.SourceRange
	}
	if c.from.Want, err = versions.ParseConstraints(c.from.Constraint); err != nil {
		return c, c.failAt(rng, evaluated(found.VersionComputed, c.from.Constraint, err))
	}
	c.from.Recorded = c.from.Want
	return c, nil
}

func parseSource(found config.Call, dialect Dialect) (addrs.ModuleSource, error) {
	parser := dialect.parser()
	source, err := parser.ParseModuleSource(found.Source)
	if found.Version != nil && !callsource.OffersVersions(source) {
		// The strict parser explains why the source cannot have a version.
		_, err = parser.ParseModuleSourceRegistry(found.Source)
	}
	return source, err
}

func checkTest(found config.Call, source addrs.ModuleSource, dialect Dialect) error {
	if _, remote := source.(addrs.ModuleSourceRemote); remote && len(found.Prefix) > 0 && dialect == DialectTerraform {
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

// blockOf reconstructs the module block of a lock entry. The constraint is in the source address if that has an
// argument for it.
func blockOf(entry lockfile.Module) config.Call {
	name := entry.Key[strings.LastIndexByte(entry.Key, '.')+1:]
	block := config.Call{Name: name, Source: entry.Source.String()}
	remote, ok := entry.Source.(addrs.ModuleSourceRemote)
	if inAddress := ok && remote.Package.HasArg("version"); !entry.Constraints.IsZero() && !inAddress {
		block.Version = new(entry.Constraints.String())
	}
	return block
}

func (c *call) key() string { return c.path.String() }

// own reports whether the call is in one of the project's own modules, or is what the project has in its place.
func (c *call) own() bool { return c.caller.pkg == nil || c.replaced != nil }

func (c *call) written() (config.Call, callsource.Source) {
	if c.replaced != nil {
		return c.replaced.call, c.replaced.from
	}
	return c.Call, c.from
}

// replaces returns the address that the source replaces, as the lock writes it; nil if it replaces none.
func (c *call) replaces() addrs.ModuleSource {
	if c.replaced == nil {
		return nil
	}
	return c.replaced.from.LockAddress()
}

// replacesAsIn reports whether an entry says rightly which address the source of the call replaces, if it does.
func (c *call) replacesAsIn(entry lockfile.Module) bool {
	if c.replaced == nil {
		return entry.Replaces == nil
	}
	return c.replaced.from.IsOf(lockfile.Module{Source: entry.Replaces})
}

func (c *call) isDirectory() bool {
	_, local := c.from.Address.(addrs.ModuleSourceLocal)
	return local && c.replaced != nil
}

func (c *call) asCaller() *Caller {
	block, _ := c.shown(false)
	return &Caller{Path: c.path, Call: block, Constraint: c.from.Recorded.String()}
}

// excludes reports whether the call excludes the version of an entry for the same source.
func (c *call) excludes(entry lockfile.Module) bool {
	return !entry.Version.IsZero() && c.from.IsOf(entry) && c.from.SelectsVersion() && !c.from.Allows(entry.Version)
}

// shown returns the block and the source for results, without credentials unless keepCredentials is set.
func (c *call) shown(keepCredentials bool) (config.Call, addrs.ModuleSource) {
	block, source := c.Call, c.from.Address
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

func (c *call) fail(err error) error { return c.failAt(c.placeOfSource(), err) }

func (c *call) failIf(err error) error {
	if err == nil {
		return nil
	}
	return c.fail(err)
}

// failOnce wraps an error unless it is already about a call.
func (c *call) failOnce(err error) error {
	var module *ModuleError
	if err == nil || errors.As(err, &module) || isType[*refusal](err) {
		return err
	}
	return c.fail(err)
}

func (c *call) failVersion(err error) error {
	return c.failAt(c.placeOfVersion(), err)
}

// placeOfSource returns the range of the call if a reader of configuration does not report that of the source.
func (c *call) placeOfSource() hcl.Range {
	if c.SourceRange.Filename == "" {
		return c.Range
	}
	return c.SourceRange
}

func (c *call) placeOfVersion() hcl.Range {
	if c.VersionRange.Filename == "" {
		return c.placeOfSource()
	}
	return c.VersionRange
}

func (c *call) failAt(rng hcl.Range, err error) error {
	shown := addrs.Redact(c.Source)
	if c.from.Address != nil {
		shown = addrs.Redact(c.from.Address.ForDisplay())
	}
	if c.replaced != nil {
		shown += " in place of " + addrs.Redact(c.replaced.from.Address.ForDisplay())
	}
	dir := ""
	if c.caller != nil { // a session may not know it
		dir = c.caller.finalPath
	}
	return &ModuleError{Path: c.path, Source: shown, Range: rng, Dir: dir, Err: err}
}

// refusal is the error of a call without a usable lock entry, in a run that must not change the lock. All
// refusals of a run become one [LockedError].
type refusal struct{ LockedReason }

func (r *refusal) Error() string { return r.Reason }

func (c *call) refuse(reason string) *refusal {
	return &refusal{LockedReason: LockedReason{Path: c.path, Range: c.placeOfSource(), Reason: reason}}
}

func (c *call) refuseLost() *refusal {
	refused := c.refuse("the lock has no entry for it any more, as happens when tofu or terraform rewrite it")
	refused.Vanished = true
	return refused
}

// selection is what was selected for a call without a usable entry.
type selection struct {
	why event.Selection
	// version is zero if the source has no versions.
	version versions.Version
	at      origins.Location
	// newer is the newest version that could have been selected instead, as far as that is known.
	newer versions.Version
	// isBehind says that the ref of the source points to a newer revision.
	isBehind bool
}

// placement is the copy of a package that a call has or will have.
type placement struct {
	key   string
	entry lockfile.Module
	// tree is nil if the package was not read.
	tree *store.Tree
	// files are where the package is read during the run. finalPath is the call's directory after it, as in
	// modules.json. realPath is the same without symbolic links; stock tools record the local modules that the
	// package calls with it.
	files               *project.Files
	finalPath, realPath string
	// staged is the private copy that becomes the call's directory, and shared the tree that it links to.
	// inPlace says that the links exist already. A package with neither staged nor shared stays as it is.
	staged  string
	shared  *sharedTree
	inPlace bool
	// evidence is who confirms the package, and selected why the run uses it.
	evidence evidence.Evidence
	selected selection
	// refetched is the number of bytes that were downloaded although the package was installed.
	refetched int64
	// local says that the package is an archive on the user's own machine. Its configuration may refer to other
	// archives and directories there.
	local bool
	// gitlinks and leftOut are the submodules and the links that were left out. Both are empty for a package
	// that was at hand: they were checked when its entry was made.
	gitlinks []string
	leftOut  []getmodules.Link
}

type sharedTree = packagedir.Shared

// newPlacement returns the placement of an entry's package in its place. tree is nil if it was not read.
func (p *openProject) newPlacement(entry lockfile.Module, tree *store.Tree) *placement {
	return &placement{
		key:       entry.Key,
		entry:     entry,
		tree:      tree,
		files:     p.dirs.Files(entry.Key),
		finalPath: p.dirs.PackageDir(entry.Key),
		realPath:  p.dirs.RealPackageDir(entry.Key),
		local:     entry.Package.Package.Getter() == "file",
	}
}

type module struct {
	call *call
	// pkg is nil for the project's own modules, which are in no package. subdir is the module's directory in
	// it.
	pkg    *placement
	subdir string
	// linksTo is the directory of this machine to which the call's directory links after the run, if it does.
	linksTo string
	// currentPath and finalPath are the module's directory during and after the run, the latter as in
	// modules.json.
	currentPath, finalPath string
}

func (m *module) path() addrs.Module {
	if m.call == nil {
		return nil
	}
	return m.call.path
}

func (m *module) key() string { return m.path().String() }

// isLocked reports whether the module's calls are known only from the lock, because its package is not installed
// or, for the root module, because a program has the configuration.
func (m *module) isLocked() bool { return m.currentPath == "" }

// isInProject reports whether a module is one of those in the project's repository, and not in a package or in a
// directory that a call names by its absolute path.
func (m *module) isInProject() bool {
	return m.pkg == nil && m.linksTo == "" && !filepath.IsAbs(m.finalPath)
}

// isElsewhere reports whether the module is in a package that is not from this machine.
func (m *module) isElsewhere() bool { return m.pkg != nil && !m.pkg.local }

// origin returns the scheme and host from which the package came, as a URL: those in its lock entry, or else in
// the source of its call; "" if there are none.
func (m *module) origin() string {
	if from := callsource.OriginOf(m.pkg.entry); from != "" {
		return from
	}
	for c := m.call; c != nil && c.caller != nil; c = c.caller.call {
		if at := c.from.Host(); at != nil {
			return hostname.Origin(at)
		}
	}
	return ""
}

// ownsPackage reports whether the package was placed for this module's own call.
func (m *module) ownsPackage() bool { return m.pkg != nil && m.pkg.key == m.key() }

// version returns the version of a module that has a package of its own.
func (m *module) version() versions.Version {
	if !m.ownsPackage() {
		return versions.Version{}
	}
	return m.pkg.entry.Version
}

// record returns the module's record in modules.json. Only packages from registries have versions there, and
// those whose source is replaced.
func (m *module) record(version versions.Version) project.ManifestRecord {
	if r := m.call.replaced; r != nil {
		return project.ManifestRecord{Key: m.key(), Source: r.from.Address.String(), Version: r.recordedVersion(version), Dir: m.finalPath}
	}
	if _, ok := m.call.from.Address.(addrs.ModuleSourceRegistry); !ok {
		version = versions.Version{}
	}
	return project.ManifestRecord{Key: m.key(), Source: m.call.from.Address.String(), Version: version.String(), Dir: m.finalPath}
}

func (m *module) result(keepCredentials bool) Module {
	shown := Module{Path: m.path(), Dir: m.finalPath}
	shown.Call, shown.Source = m.call.shown(keepCredentials)
	shown.Replaces = m.call.replaces()
	if m.ownsPackage() {
		shown.Version = m.pkg.entry.Version
		shown.Package = m.pkg.entry.Package
		shown.Hashes = m.pkg.entry.Hashes
		shown.Evidence = m.pkg.evidence
	}
	return shown
}

func (m *module) configDir() configs.Dir {
	dir := configs.Dir{Module: m.path(), Path: m.currentPath, Display: m.finalPath}
	if m.pkg != nil {
		dir.Files, dir.Subdir = m.pkg.files, m.subdir
	}
	return dir
}

func (p *openProject) newResult(modules []*module) *Result {
	result := &Result{
		Root:        Module{Dir: "."},
		Dialect:     p.dialect,
		LockContent: p.req.LockContent,
	}
	if p.req.hasLockFile() {
		result.LockFile = p.req.lockPath()
	}
	for _, s := range p.detected.Signs {
		result.DialectSigns = append(result.DialectSigns, DialectSign{dialectOf(s.Tool), s.What})
	}
	for _, m := range modules {
		result.Modules = append(result.Modules, m.result(p.req.KeepCredentials))
	}
	return result
}

func versionOf(text string) versions.Version {
	version, _ := versions.Parse(text)
	return version
}
