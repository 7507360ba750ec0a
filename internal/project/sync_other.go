//go:build !linux

package project

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// syncStage makes all staged files durable, one by one.
func (p *Project) syncStage() error {
	err := fs.WalkDir(p.modules.FS(), p.stage, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return atomicfile.SyncDir(p.modules, name, "project.stage")
		case !entry.Type().IsRegular():
			return nil
		}
		return syncFile(p.modules, name)
	})
	return errors.Join(err, atomicfile.SyncDir(p.modules, path.Dir(p.stage), "project.stage"))
}

// syncFile makes one file durable. Windows only syncs files that are open for
// writing.
func syncFile(root *os.Root, name string) error {
	flag := os.O_RDONLY
	if runtime.GOOS == "windows" {
		flag = os.O_RDWR
	}
	file, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
