package cotter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/materialize"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/lockfile"
)

// module is one module of the tree, in its place.
type module struct {
	// call is the call of the module; nil for the root module.
	call *call
	// pkg is the package that the module is part of; nil for the user's own modules,
	// which are in no package. subdir is the module's directory in it.
	pkg    *placement
	subdir string
	// currentPath is where the module's files are until the run is over, and
	// finalPath its directory then, as modules.json names it.
	currentPath, finalPath string
}

// placement is the copy of a package that one call has, or will have.
type placement struct {
	key   string
	entry lockfile.Module
	// tree is nil if the package was not read.
	tree *pkgtree.Tree
	// currentPath is where the package's files are until the run is over.
	// finalPath is the call's directory then, as modules.json would name it, and
	// realPath the same without links, by which stock tools record the local modules
	// that the package's own modules call.
	currentPath, finalPath, realPath string
	// staged is the private copy that becomes the call's directory. shared is the
	// shared tree into which the directory has, or will have, links; inPlace says that
	// it has them already. A package with neither stays as it is.
	staged  string
	shared  *sharedTree
	inPlace bool
	// unconfirmed says that no origin has confirmed the entry: the package is vendored.
	unconfirmed bool
	// local says that the package is a directory or file of the user's own
	// machine, whose configuration may name other local packages.
	local bool
	// gitlinks are the submodules that were left out, and leftOut the links that are
	// not part of the package. They are empty for a package from the cache or in
	// place, for whose entry they were checked when it was made.
	gitlinks []string
	leftOut  []getmodules.Link
}

// sharedTree is a shared tree of the project; see package materialize.
type sharedTree = materialize.Shared

// path is the module's path; empty for the root module.
func (m *module) path() addrs.Module {
	if m.call == nil {
		return nil
	}
	return m.call.path
}

func (m *module) key() string { return m.path().String() }

// isElsewhere reports whether the module is in a package from elsewhere than this machine.
func (m *module) isElsewhere() bool { return m.pkg != nil && !m.pkg.local }

// ownsPackage reports whether the package was placed for this very call.
func (m *module) ownsPackage() bool { return m.pkg != nil && m.pkg.key == m.key() }

// record is the module in modules.json, where only a registry's packages have
// versions.
func (m *module) record(version string) manifest.Record {
	if _, ok := m.call.from.Address.(addrs.ModuleSourceRegistry); !ok {
		version = ""
	}
	return manifest.Record{Key: m.key(), Source: m.call.from.Address.String(), Version: version, Dir: m.finalPath}
}

// checkCycle compares the module with those above it: one with the bytes and the
// place of a module above makes the same calls again, without end.
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

// identity is the same for two modules that make the same calls.
func (m *module) identity() [2]string {
	if m.pkg == nil || m.pkg.tree == nil { // the user's own, or not read
		return [2]string{"", path.Clean(m.finalPath)}
	}
	return [2]string{string(m.pkg.tree.T1()), path.Clean(m.subdir)}
}

func nameOf(p addrs.Module) string {
	if p.IsRoot() {
		return "the root module"
	}
	return p.String()
}

// localModule returns the module of a local call: in its caller's package, or
// among the user's own files.
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

// ownModule returns a module of the user's own, which may be anywhere. Its
// directory is recorded as stock tools do it, because it is what path.module gives:
// the source as it is written joined to the caller's directory, and then without
// symbolic links.
func ownModule(c *call, source, rootDir string) (*module, error) {
	written := path.Join(c.caller.finalPath, source)
	base, err := filepath.EvalSymlinks(rootDir)
	if err != nil {
		return nil, c.fail(err)
	}
	dir, err := opendir.Resolve(base, filepath.FromSlash(written))
	if err != nil {
		return nil, c.fail(unreadable(written, err))
	}
	m := &module{call: c, finalPath: filepath.ToSlash(dir), currentPath: opendir.Inside(base, dir)}
	info, err := os.Stat(m.currentPath)
	if err != nil || !info.IsDir() {
		return nil, c.fail(unreadable(written, err))
	}
	return m, nil
}

// moduleIn returns the module in a directory of a package. Links are resolved, and
// may not leave the package.
func moduleIn(c *call, pkg *placement, subdir string) (*module, error) {
	if err := pkg.checkSubmodules(subdir); err != nil {
		return nil, c.fail(err)
	}
	if err := pkg.checkLinks(subdir); err != nil {
		return nil, c.fail(err)
	}
	root, err := opendir.Root(pkg.currentPath)
	if err != nil {
		return nil, c.fail(err)
	}
	defer root.Close()
	info, err := root.Stat(orElse(filepath.FromSlash(subdir), "."))
	if err != nil || !info.IsDir() {
		return nil, c.fail(pkg.noSubdir(subdir, err))
	}
	base := pkg.finalPath
	if c.from.IsLocal() {
		if subdir, err = relativeTo(pkg.currentPath, filepath.Join(pkg.currentPath, subdir)); err != nil {
			return nil, c.fail(err)
		}
		base = pkg.realPath
	}
	return &module{
		call: c, pkg: pkg, subdir: subdir,
		currentPath: filepath.Join(pkg.currentPath, subdir),
		finalPath:   path.Join(base, subdir),
	}, nil
}

// checkSubmodules refuses a directory whose own files are in a git submodule that
// was not fetched.
func (p *placement) checkSubmodules(subdir string) error {
	for _, link := range p.gitlinks {
		if pathsafe.Within(link, subdir) || pathsafe.Within(subdir, link) {
			return &SubmoduleError{Path: link}
		}
	}
	return nil
}

// checkLinks refuses a directory to which a link points, or from which a link
// points, that was left out of the package. For a module at the package's root only
// links right in that directory count: below it are directories that the module
// does not need, such as examples.
func (p *placement) checkLinks(subdir string) error {
	if len(p.leftOut) == 0 {
		return nil
	}
	dirs := []string{subdir}
	if actual, err := relativeTo(p.currentPath, filepath.Join(p.currentPath, subdir)); err == nil {
		dirs = append(dirs, strings.TrimPrefix(actual, "."))
	} // else moduleIn reports what is wrong
	for _, link := range p.leftOut {
		for _, dir := range dirs {
			if pathsafe.Within(link.Path, dir) || pathsafe.Within(dir, link.Path) || dir == "" && path.Dir(link.Path) == "." {
				return fmt.Errorf("%w: the symbolic link %s", getmodules.ErrUnsafeEntry, link)
			}
		}
	}
	return nil
}

// noSubdir names the directories of the package that do hold configuration: most
// often the wanted one was renamed.
func (p *placement) noSubdir(subdir string, cause error) error {
	if cause == nil {
		cause = errors.New("it is a file")
	}
	if errors.Is(cause, fs.ErrNotExist) {
		cause = errors.New("the package has no such directory")
	}
	err := fmt.Errorf("%w: %q: %w", ErrNoSubdir, subdir, cause)
	if dirs := p.moduleDirs(); len(dirs) > 0 {
		err = fmt.Errorf("%w; it has modules in %s", err, strings.Join(dirs, ", "))
	}
	return err
}

// maxSuggested is how many directories a message suggests.
const maxSuggested = 8

// moduleDirs lists directories of the package that hold configuration.
func (p *placement) moduleDirs() []string {
	if p.tree == nil {
		return nil
	}
	var dirs []string
	seen := make(map[string]bool)
	for _, entry := range p.tree.Entries {
		dir := path.Dir(entry.Path)
		if !configs.IsConfigFile(path.Base(entry.Path)) || seen[dir] {
			continue
		}
		seen[dir] = true
		if len(dirs) == maxSuggested {
			return append(dirs, "...")
		}
		dirs = append(dirs, fmt.Sprintf("%q", dir))
	}
	return dirs
}

func unreadable(dir string, cause error) error {
	if cause == nil {
		return fmt.Errorf("unreadable module directory: %q is not a directory", dir)
	}
	if errors.Is(cause, fs.ErrNotExist) {
		return fmt.Errorf("unreadable module directory: %q does not exist: %w", dir, fs.ErrNotExist)
	}
	return fmt.Errorf("unreadable module directory: %w", cause)
}

// relativeTo returns dir without links, relative to base, with forward slashes.
func relativeTo(base, dir string) (string, error) {
	realBase, err := absolute(base)
	if err != nil {
		return "", err
	}
	realDir, err := absolute(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(realBase, realDir)
	return filepath.ToSlash(rel), err
}

// absolute returns the absolute path of a file without links.
func absolute(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}
