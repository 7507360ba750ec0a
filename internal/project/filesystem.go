package project

import (
	"path"
	"runtime"
	"strings"
)

// FoldsCase reports whether the file system takes names that differ only in case
// for one name.
func (p *Project) FoldsCase() bool { return p.exists(strings.ToUpper(ownName)) }

// KeepsModes reports whether the file system keeps apart files that are
// executable and files that are not. FAT and its kin give all files one mode.
func (p *Project) KeepsModes() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	info, err := p.modules.Lstat(flockName) // which nobody makes executable
	return err != nil || info.Mode().Perm()&0o111 == 0
}

// HasLinks reports whether the file system has symbolic links, by making one on
// the stage.
func (p *Project) HasLinks() bool {
	name := path.Join(p.stage, "@link") // no call can have this name
	if err := p.modules.Symlink("target", name); err != nil {
		return false
	}
	return p.modules.Remove(name) == nil
}
