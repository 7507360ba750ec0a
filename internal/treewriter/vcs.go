package treewriter

import (
	"slices"
	"strings"
)

// IsVersionControl reports whether some file system takes a component of a
// path for the directory (or file) in which git, Mercurial, Subversion or
// Bazaar keep their data. A package with one would bring hooks and
// configuration that run in the user's name as soon as a tool looks at it.
//
// It knows what git's own check knows: any case, trailing dots and spaces, NTFS
// streams (".git::$INDEX_ALLOCATION") and short names ("git~1"), and the code
// points that HFS+ leaves out of comparisons.
func IsVersionControl(component string) bool {
	name := strings.Map(withoutIgnorable, component)
	name, _, _ = strings.Cut(name, ":")
	name = foldKey(strings.TrimRight(name, ". "))
	if short, isShort := strings.CutSuffix(name, "~1"); isShort {
		name = "." + short
	}
	return slices.Contains([]string{".git", ".hg", ".svn", ".bzr"}, name)
}

// withoutIgnorable is for strings.Map: it drops what HFS+ ignores.
func withoutIgnorable(r rune) rune {
	switch {
	case 0x200c <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x206a <= r && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
