package treewalk

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/versions"
)

// Module is one module of the tree: what a call was found to be, or the root module.
type Module struct {
	Call *Call // nil for the root module
	// Package is nil for the project's own modules, which are in no package. Subdir is the module's directory in
	// it.
	Package *Package
	Subdir  string
	// LinksTo is the directory of this machine to which the call's directory links after the run, if it does.
	LinksTo string
	// CurrentPath and FinalPath are the module's directory during and after the run, the latter as in
	// modules.json.
	CurrentPath, FinalPath string
}

// Path is empty for the root module.
func (m *Module) Path() addrs.Module {
	if m.Call == nil {
		return nil
	}
	return m.Call.Path
}

// Key returns the path with dots; "" for the root module.
func (m *Module) Key() string { return m.Path().String() }

// IsLocked reports whether the module's calls are known only from the lock, because its package is not installed
// or, for the root module, because a program has the configuration.
func (m *Module) IsLocked() bool { return m.CurrentPath == "" }

// IsInProject reports whether a module is one of those in the project's repository, and not in a package or in a
// directory that a call names by its absolute path.
func (m *Module) IsInProject() bool {
	return m.Package == nil && m.LinksTo == "" && !filepath.IsAbs(m.FinalPath)
}

// IsElsewhere reports whether the module is in a package that is not from this machine.
func (m *Module) IsElsewhere() bool { return m.Package != nil && !m.Package.Local }

// Origin returns the scheme and host from which the package came, as a URL: those in its lock entry, or else in
// the source of its call; "" if there are none.
func (m *Module) Origin() string {
	if from := callsource.OriginOf(m.Package.Entry); from != "" {
		return from
	}
	for c := m.Call; c != nil && c.Caller != nil; c = c.Caller.Call {
		if at := c.From.Host(); at != nil {
			return hostname.Origin(at)
		}
	}
	return ""
}

// OwnsPackage reports whether the package was placed for this module's own call.
func (m *Module) OwnsPackage() bool { return m.Package != nil && m.Package.Key == m.Key() }

// Version returns the version of a module that has a package of its own.
func (m *Module) Version() versions.Version {
	if !m.OwnsPackage() {
		return versions.Version{}
	}
	return m.Package.Entry.Version
}

// Record returns the module's record in modules.json. Only packages from registries have versions there, and
// those whose source is replaced.
func (m *Module) Record(version versions.Version) project.ManifestRecord {
	if r := m.Call.Replaced; r != nil {
		return project.ManifestRecord{Key: m.Key(), Source: r.From.Address.String(), Version: r.recordedVersion(version), Dir: m.FinalPath}
	}
	if _, ok := m.Call.From.Address.(addrs.ModuleSourceRegistry); !ok {
		version = versions.Version{}
	}
	return project.ManifestRecord{Key: m.Key(), Source: m.Call.From.Address.String(), Version: version.String(), Dir: m.FinalPath}
}

// CheckCycle returns an error if a module above has the same bytes and place, and so would make the same calls
// again, without end.
func (m *Module) CheckCycle() error {
	for above := m.Call.Caller; ; above = above.Call.Caller {
		if above.identity() == m.identity() {
			return m.Call.Fail(fmt.Errorf("%w: %s has the same configuration as %s, from which it is called", config.ErrCycle, m.Path(), nameOf(above.Path())))
		}
		if above.Call == nil {
			return nil
		}
	}
}

// identity returns the same value for two modules that make the same calls.
func (m *Module) identity() [2]string {
	if m.LinksTo != "" { // local modules below it have this path
		return [2]string{"", filepath.ToSlash(m.CurrentPath)}
	}
	if m.Package == nil || m.Package.t1() == "" { // the project's own module, or a package that was not read
		return [2]string{"", path.Clean(m.FinalPath)}
	}
	return [2]string{string(m.Package.t1()), path.Clean(m.Subdir)}
}

func nameOf(p addrs.Module) string {
	if p.IsRoot() {
		return "the root module"
	}
	return p.String()
}
