package getmodules

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// archiveKind is a format of archives; "" is none.
type archiveKind string

const (
	kindZip      archiveKind = "zip"
	kindTarGzip  archiveKind = "tar.gz"
	kindTarBzip2 archiveKind = "tar.bz2"
)

// archiveNames has the names of formats, as the archive argument and file names
// have them. Those without a kind are known, but not supported. The names are
// those of the stock tools, "tar.tbz2" included, and "tar", which they refuse
// only after they downloaded something.
func archiveNames() map[string]archiveKind {
	return map[string]archiveKind{
		"zip":      kindZip,
		"tar.gz":   kindTarGzip,
		"tgz":      kindTarGzip,
		"tar.bz2":  kindTarBzip2,
		"tar.tbz2": kindTarBzip2,
		"tar.xz":   "",
		"txz":      "",
		"bz2":      "",
		"gz":       "",
		"xz":       "",
		"tar":      "",
	}
}

// kindFor is the kind of archive that an address means, by its archive argument
// and else by the suffix of its path. "" means that it is no archive.
func kindFor(archive, path string) (archiveKind, error) {
	if archive == "" {
		return kindBySuffix(path)
	}
	if wanted, err := strconv.ParseBool(archive); err == nil && !wanted {
		return "", nil
	}
	kind, known := archiveNames()[archive]
	if known && kind == "" {
		return "", unsupportedArchive(archive)
	}
	return kind, nil // none if it is not known, as for the stock tools
}

// kindBySuffix takes the longest suffix. ".tar" is none to the stock tools,
// which take such an address for a page that may point elsewhere.
func kindBySuffix(path string) (archiveKind, error) {
	longest := ""
	for name := range archiveNames() {
		if name != "tar" && strings.HasSuffix(path, "."+name) && len(name) > len(longest) {
			longest = name
		}
	}
	if longest == "" {
		return "", nil
	}
	kind := archiveNames()[longest]
	if kind == "" {
		return "", unsupportedArchive(longest)
	}
	return kind, nil
}

func unsupportedArchive(name string) error {
	return fmt.Errorf("%w %q: there are zip, tar.gz and tar.bz2", ErrUnsupportedArchive, name)
}

// kindOf is the kind that a file begins like.
func kindOf(head []byte) archiveKind {
	switch {
	// The second one is how a zip archive without entries begins.
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return kindZip
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return kindTarGzip
	case bytes.HasPrefix(head, []byte("BZh")):
		return kindTarBzip2
	}
	return ""
}
