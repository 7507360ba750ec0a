package configread

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/configuration/repofiles"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// moduleFiles are the files that a module's expressions can read: those of the repository for the
// user's own modules, and those of the package for others.
type moduleFiles struct{ scope *scope }

var errOutsidePackage = errors.New("it is not in the module's package, and a package's modules may read no other files")

var errAbsolute = errors.New("a package's modules may not use the absolute path of the project")

func (m moduleFiles) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := m.open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	text, err := (&directory{left: limit, maxFile: limit}).readAll(f)
	return text, cause(err)
}

func (m moduleFiles) Stat(name string) (fs.FileInfo, error) {
	f, err := m.open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = repofiles.ErrNotRegular
	}
	return info, cause(err)
}

func (m moduleFiles) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	f, err := m.open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	dir, ok := f.(fs.ReadDirFile)
	if err != nil || !ok || !info.IsDir() {
		return nil, cause(err)
	}
	entries, err := dir.ReadDir(limit + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF): // io.EOF is for an empty directory
		return nil, cause(err)
	case len(entries) > limit:
		return nil, fmt.Errorf("it has more than %d files", limit)
	}
	if m.scope.dir.inPackage() || m.scope.tree.inputs.AllowFileReads {
		return entries, nil
	}
	own, err := m.scope.tree.own()
	return slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return !own.Lists(entry.Name()) }), err
}

// Abs returns the absolute name that the file has after installation. What a package calls must not
// depend on where the project is, nor tell a server, so a package's module gets an error.
func (m moduleFiles) Abs(name string) (string, error) {
	if m.scope.dir.inPackage() {
		return "", errAbsolute
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(m.scope.tree.root.dir.Path, name)
	}
	absolute, err := filepath.Abs(name)
	return filepath.ToSlash(absolute), err
}

func (m moduleFiles) open(name string) (fs.File, error) {
	dir := m.scope.dir
	if !dir.inPackage() {
		f, err := m.scope.tree.openOwn(name)
		if err != nil {
			return nil, err // not a nil *os.File in an interface
		}
		return f, nil
	}
	rel, err := inPackage(dir, name)
	if err != nil {
		return nil, err
	}
	return dir.Files.Open(rel)
}

// openOwn opens a file or a directory, whose name is absolute or relative to the root module, for one of the user's own
// modules.
func (t *Tree) openOwn(name string) (*os.File, error) {
	root := t.root.dir.Path
	if t.inputs.AllowFileReads {
		if !filepath.IsAbs(name) {
			name = filepath.Join(root, name)
		}
		return os.OpenFile(name, os.O_RDONLY|pathsafe.Nonblock, 0)
	}
	own, err := t.own()
	if err != nil {
		return nil, err
	}
	return own.Open(name)
}

// own returns the files that expressions of the user's own modules can read, and whose text errors may have.
func (t *Tree) own() (*repofiles.Dir, error) {
	t.allowed.once.Do(func() {
		t.allowed.dir, t.allowed.err = repofiles.Find(t.root.dir.Path, t.inputs.Home)
	})
	return t.allowed.dir, t.allowed.err
}

// inPackage returns the path of a file within the module's package. Like path.module, name begins with
// the directory that the package will have after installation.
func inPackage(dir Dir, name string) (string, error) {
	pkg := path.Clean(dir.display(""))
	if inside := path.Clean(dir.Subdir); inside != "." {
		var ok bool
		if pkg, ok = strings.CutSuffix(pkg, "/"+inside); !ok {
			return "", errOutsidePackage
		}
	}
	name = path.Clean(filepath.ToSlash(name))
	if name == pkg {
		return ".", nil
	}
	rel, ok := strings.CutPrefix(name, pkg+"/")
	if !ok {
		return "", errOutsidePackage
	}
	return rel, nil
}
