package treewalk

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
)

// LocalModule returns the module of a local call: in its caller's package, or among the project's own files.
func (p *Project) LocalModule(c *Call) (*Module, error) {
	switch {
	case c.IsDirectory(): // its path is relative to the root module
		return moduleAt(c, p.Dirs.Root, string(c.From.Address.(addrs.ModuleSourceLocal)))
	case c.From.IsLinked():
		return linkedModule(c, p.Dirs)
	}
	source := string(c.From.Address.(addrs.ModuleSourceLocal))
	pkg := c.Caller.Package
	if pkg == nil {
		return ownModule(c, source, p.Dirs)
	}
	subdir := path.Join(c.Caller.Subdir, source)
	if subdir == ".." || strings.HasPrefix(subdir, "../") {
		return nil, c.Fail(fmt.Errorf("%w: %q is outside the package of module %s", config.ErrEscapesPackage, source, pkg.Key))
	}
	return ModuleIn(c, pkg, subdir)
}

// linkedModule returns the module in a directory that a call names by its absolute path. Such a module is one
// of the project's own. The call's directory becomes a link, so that edits are seen. Stock tools link only the
// first call of a directory and copy it for the others, but an init accepts links for all calls.
func linkedModule(c *Call, dirs *project.Dirs) (*Module, error) {
	subdir, err := c.From.ModuleSubdir("")
	if err != nil {
		return nil, c.Fail(err)
	}
	m, err := moduleAt(c, dirs.Root, path.Join(filepath.ToSlash(c.From.Directory), subdir))
	if err == nil {
		m.LinksTo, m.FinalPath = c.From.Directory, path.Join(dirs.PackageDir(c.Key()), subdir)
	}
	return m, err
}

// ownModule returns one of the project's own modules, which may be in any directory. If the caller's directory
// is a link, the source must stay below it.
func ownModule(c *Call, source string, dirs *project.Dirs) (*Module, error) {
	dir := path.Join(c.Caller.FinalPath, source)
	if c.Caller.LinksTo == "" {
		return moduleAt(c, dirs.Root, dir)
	}
	link := dirs.PackageDir(c.Caller.Key())
	if !pathsafe.Within(dir, link) {
		return nil, c.Fail(fmt.Errorf("%w: %q is outside %s", config.ErrEscapesPackage, source, c.Caller.LinksTo))
	}
	return c.Caller.linked(c, strings.TrimPrefix(dir, link))
}

// linked returns the module of a call below the directory that a module links to. The link may not exist yet.
func (m *Module) linked(c *Call, below string) (*Module, error) {
	return moduleAt(c, ".", path.Join(filepath.ToSlash(m.LinksTo), below))
}

// moduleAt returns the module in a directory that is absolute, or relative to the root module.
func moduleAt(c *Call, rootDir, dir string) (*Module, error) {
	dir, current, err := project.OwnModule(rootDir, dir)
	if err != nil {
		return nil, c.Fail(err)
	}
	return &Module{Call: c, FinalPath: dir, CurrentPath: current}, nil
}

// ModuleIn returns the module of a call in a directory of a package, which is checked.
func ModuleIn(c *Call, pkg *Package, subdir string) (*Module, error) {
	err := pkg.checkDir(subdir)
	base := pkg.FinalPath
	if err == nil && c.From.IsLocal() {
		base = pkg.RealPath
		subdir, err = pkg.Files.Real(path.Clean(subdir))
	}
	if err == nil && !utf8.ValidString(subdir) {
		err = fmt.Errorf("%w: the module's directory %q is not valid UTF-8, as modules.json must be", pathsafe.ErrUnsafeEntry, subdir)
	}
	if err != nil {
		return nil, c.Fail(err)
	}
	return &Module{
		Call: c, Package: pkg, Subdir: subdir,
		CurrentPath: filepath.Join(pkg.Files.Path(), filepath.FromSlash(subdir)),
		FinalPath:   path.Join(base, subdir),
	}, nil
}
