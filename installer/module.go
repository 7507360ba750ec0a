package installer

import (
	"errors"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func asCaller(c *call) *Caller {
	block, _ := c.Shown(false)
	return &Caller{Path: c.Path, Call: block, Constraint: c.From.Recorded.String()}
}

// excludes reports whether a call excludes the version of an entry for the same source.
func excludes(c *call, entry lockfile.Module) bool {
	return !entry.Version.IsZero() && c.From.IsOf(entry) && c.From.SelectsVersion() && !c.From.Allows(entry.Version)
}

// failOnce wraps an error unless it is already about a call.
func failOnce(c *call, err error) error {
	var module *ModuleError
	if err == nil || errors.As(err, &module) || isType[*refusal](err) {
		return err
	}
	return c.Fail(err)
}

// refusal is the error of a call without a usable lock entry, in a run that must not change the lock. All
// refusals of a run become one [LockedError].
type refusal struct{ LockedReason }

func (r *refusal) Error() string { return r.Reason }

func refuse(c *call, reason string) *refusal {
	return &refusal{LockedReason: LockedReason{Path: c.Path, Range: c.PlaceOfSource(), Reason: reason}}
}

func refuseLost(c *call) *refusal {
	refused := refuse(c, "the lock has no entry for it any more, as happens when tofu or terraform rewrite it")
	refused.Vanished = true
	return refused
}

// newPlacement returns the placement of an entry's package in its place. tree is nil if it was not read.
func (p *openProject) newPlacement(entry lockfile.Module, tree *store.Tree) *placement {
	return &placement{Package: p.NewPackage(entry), tree: tree}
}

func resultOf(m *module, keepCredentials bool) Module {
	shown := moduleOf(m.Describe(keepCredentials))
	if m.OwnsPackage() && m.Package.Content != nil {
		shown.Evidence = placed(m).evidence
	}
	return shown
}

func moduleOf(d treewalk.Description) Module {
	return Module{Path: d.Path, Call: d.Call, Source: d.Source, Replaces: d.Replaces, Version: d.Version, Package: d.Package, Hashes: d.Hashes, Dir: d.Dir}
}

func configDir(m *module) configread.Dir {
	dir := configread.Dir{Module: m.Path(), Path: m.CurrentPath, Display: m.FinalPath}
	if m.Package != nil {
		dir.Files, dir.Subdir = m.Package.Files, m.Subdir
	}
	return dir
}

func (p *openProject) newResult(modules []*module) *Result {
	result := &Result{
		Root:        Module{Dir: "."},
		Dialect:     p.Dialect,
		LockContent: p.req.LockContent,
	}
	if p.req.hasLockFile() {
		result.LockFile = p.req.lockPath()
	}
	for _, s := range p.Detected.Signs {
		result.DialectSigns = append(result.DialectSigns, DialectSign{s.Tool, s.What})
	}
	for _, m := range modules {
		result.Modules = append(result.Modules, resultOf(m, p.req.KeepCredentials))
	}
	return result
}

func versionOf(text string) versions.Version {
	version, _ := versions.Parse(text)
	return version
}

func joinFailures(f *failures) error { return join(f.Errs()...) }

func addUnresolved(f *failures, result *Result, keepCredentials bool) {
	for _, failure := range f.Sorted() {
		unresolved := Unresolved{Path: failure.Path, Err: failure.Err}
		if failure.Call != nil {
			unresolved.Call, unresolved.Source = failure.Call.Shown(keepCredentials)
		}
		result.Unresolved = append(result.Unresolved, unresolved)
	}
}
