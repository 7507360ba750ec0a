//go:build !linux

package project

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// syncTree makes all files below the directory name durable, one by one.
func syncTree(root *os.Root, name, stepName string) error {
	err := fs.WalkDir(pathsafe.FS(root), name, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return atomicfile.SyncDir(root, name, stepName)
		case !entry.Type().IsRegular():
			return nil
		}
		return syncFile(root, name)
	})
	return errors.Join(err, atomicfile.SyncDir(root, path.Dir(name), stepName))
}

// syncFile opens the file for writing on Windows, which syncs no others.
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
