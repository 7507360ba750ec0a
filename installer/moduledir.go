package installer

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/packagedir"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
)

// localModule returns the module of a local call: in its caller's package, or among the project's own files.
func localModule(c *call, dirs *packagedir.Dirs) (*module, error) {
	switch {
	case c.isDirectory(): // its path is relative to the root module
		return moduleAt(c, dirs.Root, string(c.from.Address.(addrs.ModuleSourceLocal)))
	case c.from.IsLinked():
		return linkedModule(c, dirs)
	}
	source := string(c.from.Address.(addrs.ModuleSourceLocal))
	pkg := c.caller.pkg
	if pkg == nil {
		return ownModule(c, source, dirs)
	}
	subdir := path.Join(c.caller.subdir, source)
	if subdir == ".." || strings.HasPrefix(subdir, "../") {
		return nil, c.fail(fmt.Errorf("%w: %q is outside the package of module %s", ErrEscapesPackage, source, pkg.key))
	}
	return moduleIn(c, pkg, subdir)
}

// linkedModule returns the module in a directory that a call names by its absolute path. Such a module is one
// of the project's own. The call's directory becomes a link, so that edits are seen. Stock tools link only the
// first call of a directory and copy it for the others, but an init accepts links for all calls.
func linkedModule(c *call, dirs *packagedir.Dirs) (*module, error) {
	subdir, err := c.from.ModuleSubdir("")
	if err != nil {
		return nil, c.fail(err)
	}
	m, err := moduleAt(c, dirs.Root, path.Join(filepath.ToSlash(c.from.Directory), subdir))
	if err == nil {
		m.linksTo, m.finalPath = c.from.Directory, path.Join(dirs.PackageDir(c.key()), subdir)
	}
	return m, err
}

// ownModule returns one of the project's own modules, which may be in any directory. If the caller's directory
// is a link, the source must stay below it.
func ownModule(c *call, source string, dirs *packagedir.Dirs) (*module, error) {
	dir := path.Join(c.caller.finalPath, source)
	if c.caller.linksTo == "" {
		return moduleAt(c, dirs.Root, dir)
	}
	link := dirs.PackageDir(c.caller.key())
	if !pathsafe.Within(dir, link) {
		return nil, c.fail(fmt.Errorf("%w: %q is outside %s", ErrEscapesPackage, source, c.caller.linksTo))
	}
	return c.caller.linked(c, strings.TrimPrefix(dir, link))
}

// linked returns the module of a call below the directory that a module links to. The link may not exist yet.
func (m *module) linked(c *call, below string) (*module, error) {
	return moduleAt(c, ".", path.Join(filepath.ToSlash(m.linksTo), below))
}

// moduleAt returns the module in a directory that is absolute, or relative to the root module.
func moduleAt(c *call, rootDir, dir string) (*module, error) {
	dir, current, err := project.OwnModule(rootDir, dir)
	if err != nil {
		return nil, c.fail(err)
	}
	return &module{call: c, finalPath: dir, currentPath: current}, nil
}

func moduleIn(c *call, pkg *placement, subdir string) (*module, error) {
	files := packagedir.Package{Files: pkg.files, Tree: pkg.tree, Gitlinks: pkg.gitlinks, LeftOut: pkg.leftOut}
	err := files.Check(subdir)
	base := pkg.finalPath
	if err == nil && c.from.IsLocal() {
		base = pkg.realPath
		subdir, err = pkg.files.Real(path.Clean(subdir))
	}
	if err == nil && !utf8.ValidString(subdir) {
		err = fmt.Errorf("%w: the module's directory %q is not valid UTF-8, as modules.json must be", getmodules.ErrUnsafeEntry, subdir)
	}
	if err != nil {
		return nil, c.fail(err)
	}
	return &module{
		call: c, pkg: pkg, subdir: subdir,
		currentPath: filepath.Join(pkg.files.Path(), filepath.FromSlash(subdir)),
		finalPath:   path.Join(base, subdir),
	}, nil
}
