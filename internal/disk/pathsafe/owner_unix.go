//go:build unix

package pathsafe

import (
	"io/fs"
	"os"
	"syscall"
)

const hasOwners = true

func exposedDir(path string, info fs.FileInfo) (ExposedDir, access) {
	d := ExposedDir{Path: path, Mode: info.Mode()}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		d.Foreign = true
		return d, access{}
	}
	d.Owner = int(stat.Uid)
	self := os.Geteuid()
	d.Foreign = d.Owner != self && d.Owner != 0
	if info.Mode().Type() == fs.ModeSymlink {
		return d, access{} // the mode of a link means nothing
	}
	others := info.Mode().Perm() & 0o007
	if group := int(stat.Gid); group != 0 && group != self {
		others |= info.Mode().Perm() >> 3 & 0o007
	}
	return d, access{write: others&0o002 != 0, enter: others&0o001 != 0}
}
