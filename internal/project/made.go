package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// makeDirs creates the modules directory and .cotter in it, and returns what it created, outermost first.
func (p *Project) makeDirs() (made []string, err error) {
	dirs := []string{p.path, filepath.Join(p.path, ownName)}
	if p.location.ModulesDir == "" {
		dirs = append([]string{p.location.DataDir}, dirs...)
	}
	for _, dir := range append(pathsafe.MissingDirs(filepath.Dir(dirs[0])), dirs...) {
		if err := pathsafe.RefuseLink(dir); err != nil {
			return nil, err
		}
		err := atomicfile.Step("project.dirs.mkdir", func() error { return os.Mkdir(dir, 0o777) })
		if err == nil {
			made = append(made, dir)
		} else if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return made, nil
}
