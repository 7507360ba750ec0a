package getmodules

import (
	"errors"
	"io"
	"io/fs"
	"strings"
)

// maxLinkTarget bounds the text of a link, which zip archives hold as a file.
// It is the longest path that a tree may have.
const maxLinkTarget = 1024

// entryName is the name of an archive's entry as a tree has it: without the
// "./" that tar puts in front of all of them, and the slash behind a
// directory's. It is "" for the root itself.
func entryName(raw string, isDir bool) string {
	if isDir {
		raw = strings.TrimSuffix(raw, "/")
	}
	if isDir && raw == "." {
		return ""
	}
	return strings.TrimPrefix(raw, "./")
}

// add puts an entry of an archive into the tree. r is what a file holds.
func (a *unpacking) add(name string, mode fs.FileMode, target string, r io.Reader) error {
	switch mode.Type() {
	case fs.ModeDir:
		if name == "" {
			return nil
		}
		return a.w.Dir(name)
	case fs.ModeSymlink:
		return a.w.Symlink(name, target)
	case 0:
		return a.w.File(name, mode&0o100 != 0, r)
	}
	return errors.New("add of a type that was not checked") // should never happen
}
