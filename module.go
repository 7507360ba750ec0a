package cotter

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/materialize"
	"github.com/cotterpin/cotter/internal/moduledir"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/lockfile"
)

// constraintsBeside returns a warning about calls with a version argument and a source that
// is not a registry's. Stock tools refuse them. It returns "" if there are no such calls.
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
	return fmt.Sprintf("tofu and terraform refuse a version argument next to a source that is not a registry address: %s; "+
		"they accept it in the address, as in \"?version=%s\"", strings.Join(places, ", "), constraint)
}

// version returns the version of a module that has a package of its own; "" for other
// modules.
func (m *module) version() string {
	if !m.ownsPackage() {
		return ""
	}
	return m.pkg.entry.Version
}

// module is one module of the tree.
type module struct {
	// call is the call of the module; nil for the root module.
	call *call
	// pkg is the package that contains the module; nil for the project's own modules, which
	// are in no package. subdir is the module's directory in the package.
	pkg    *placement
	subdir string
	// currentPath is the path of the module's files during the run. finalPath is the
	// module's directory after the run, as modules.json names it.
	currentPath, finalPath string
}

// placement is the copy of a package that a call has or will have.
type placement struct {
	key   string
	entry lockfile.Module
	// tree is nil if the package was not read.
	tree *pkgtree.Tree
	// currentPath is the path of the package's files during the run. finalPath is the
	// call's directory after the run, as modules.json would name it. realPath is the same
	// without symbolic links; stock tools use it to record the local modules that the
	// package's own modules call.
	currentPath, finalPath, realPath string
	// staged is the private copy that becomes the call's directory. shared is the shared
	// tree that the directory links to. inPlace says that the links exist already. A
	// package with neither staged nor shared stays as it is.
	staged  string
	shared  *sharedTree
	inPlace bool
	// evidence is who confirms the package, and selected is why the run uses it.
	evidence evidence.Evidence
	selected selection
	// refetched is the number of bytes that were downloaded although the package was installed;
	// see [Refetched].
	refetched int64
	// local says that the package is a directory or file on the user's own machine. Its
	// configuration may refer to other local packages.
	local bool
	// gitlinks are the submodules that were left out of the package, and leftOut the links
	// that were. Both are empty for a package that was installed or cached: they were
	// checked when its entry was made.
	gitlinks []string
	leftOut  []getmodules.Link
}

// sharedTree is a shared tree of the project; see package materialize.
type sharedTree = materialize.Shared

// path returns the module's path; empty for the root module.
func (m *module) path() addrs.Module {
	if m.call == nil {
		return nil
	}
	return m.call.path
}

func (m *module) key() string { return m.path().String() }

// isElsewhere reports whether the module is in a package that is not from this machine.
func (m *module) isElsewhere() bool { return m.pkg != nil && !m.pkg.local }

// ownsPackage reports whether the package was placed for this module's own call.
func (m *module) ownsPackage() bool { return m.pkg != nil && m.pkg.key == m.key() }

// record returns the module's record in modules.json. Only packages from registries have
// versions there.
func (m *module) record(version string) manifest.Record {
	if _, ok := m.call.from.Address.(addrs.ModuleSourceRegistry); !ok {
		version = ""
	}
	return manifest.Record{Key: m.key(), Source: m.call.from.Address.String(), Version: version, Dir: m.finalPath}
}

// checkCycle returns an error if a module above has the same bytes and place. Such a module
// would make the same calls again, without end.
func (m *module) checkCycle() error {
	for above := m.call.caller; ; above = above.call.caller {
		if above.identity() == m.identity() {
			return m.call.fail(fmt.Errorf("%w: %s has the same configuration as %s, from which it is called", ErrCycle, m.path(), nameOf(above.path())))
		}
		if above.call == nil {
			return nil
		}
	}
}

// identity returns the same value for two modules that make the same calls.
func (m *module) identity() [2]string {
	if m.pkg == nil || m.pkg.tree == nil { // the project's own module, or a package that was not read
		return [2]string{"", path.Clean(m.finalPath)}
	}
	return [2]string{string(m.pkg.tree.T1()), path.Clean(m.subdir)}
}

// localModule returns the module of a local call. It is in its caller's package, or among
// the project's own files.
func localModule(c *call, rootDir string) (*module, error) {
	source := string(c.from.Address.(addrs.ModuleSourceLocal))
	if c.own() {
		return ownModule(c, source, rootDir)
	}
	pkg := c.caller.pkg
	subdir := path.Join(c.caller.subdir, source)
	if subdir == ".." || strings.HasPrefix(subdir, "../") {
		return nil, c.fail(fmt.Errorf("%w: %q is outside the package of module %s", ErrEscapesPackage, source, pkg.key))
	}
	return moduleIn(c, pkg, subdir)
}

// ownModule returns one of the project's own modules, which may be in any directory. The
// directory is the source, as written, joined to the caller's directory.
func ownModule(c *call, source, rootDir string) (*module, error) {
	dir, current, err := moduledir.Own(rootDir, path.Join(c.caller.finalPath, source))
	if err != nil {
		return nil, c.fail(err)
	}
	return &module{call: c, finalPath: dir, currentPath: current}, nil
}

// moduleIn returns the module in a directory of a package.
func moduleIn(c *call, pkg *placement, subdir string) (*module, error) {
	files := moduledir.Package{Path: pkg.currentPath, Tree: pkg.tree, Gitlinks: pkg.gitlinks, LeftOut: pkg.leftOut}
	err := files.Check(subdir)
	base := pkg.finalPath
	if err == nil && c.from.IsLocal() {
		base = pkg.realPath
		subdir, err = files.Actual(subdir)
	}
	if err != nil {
		return nil, c.fail(err)
	}
	return &module{
		call: c, pkg: pkg, subdir: subdir,
		currentPath: filepath.Join(pkg.currentPath, subdir),
		finalPath:   path.Join(base, subdir),
	}, nil
}

// newResult returns the result of a run with the given modules.
func (p *openProject) newResult(modules []*module) *Result {
	result := &Result{
		Root:     Module{Dir: "."},
		Dialect:  p.dialect,
		LockFile: filepath.Join(p.req.dir(), p.req.lockFile()),
	}
	for _, m := range modules {
		result.Modules = append(result.Modules, m.result(p.req.KeepCredentials))
	}
	return result
}

// result returns the module as it appears in results.
func (m *module) result(keepCredentials bool) Module {
	shown := Module{Path: m.path(), Dir: m.finalPath}
	shown.Call, shown.Source = m.call.shown(keepCredentials)
	if m.ownsPackage() {
		shown.Version = m.pkg.entry.Version
		shown.Package = m.pkg.entry.Package
		shown.Hashes = m.pkg.entry.Hashes
		shown.Evidence = m.pkg.evidence
	}
	return shown
}
