package addrs

import (
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// archiveNames are the names of archive formats in stock tools: values of the argument "archive", and suffixes of
// paths.
var archiveNames = []string{"zip", "tar.gz", "tgz", "tar.bz2", "tar.tbz2", "tar.xz", "txz", "bz2", "gz", "xz", "tar"}

// ArchiveName returns the longest name of an archive format that ends a path after a dot, such as "tar.gz", or "". A
// path that ends in ".tar" has no such name: stock tools read its address as that of a page.
func ArchiveName(path string) string {
	longest := ""
	for _, name := range archiveNames {
		if name != "tar" && strings.HasSuffix(path, "."+name) && len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

// LocalDirectory returns the directory of this machine whose absolute path is the address of a package; ""
// for other addresses, such as that of an archive. It need not exist.
func (p ModulePackage) LocalDirectory() string {
	if p.Getter() != "file" {
		return ""
	}
	at, err := p.Location()
	if err != nil {
		return ""
	}
	u := at.URL()
	args := u.Query()
	name := args.Get("archive")
	if name == "" {
		name = ArchiveName(u.Path)
	}
	isOther := u.Scheme != "file" && u.Scheme != "" || u.Host != "" && u.Host != "localhost" || u.Opaque != ""
	if isOther || slices.Contains(archiveNames, name) || args.Get("checksum") != "" {
		return ""
	}
	dir, _ := FilePath(u)
	return dir
}

// FilePath returns the path on this machine that a file URL has. ok is false if it is not absolute.
func FilePath(u *url.URL) (name string, ok bool) {
	name = u.Path
	if runtime.GOOS == "windows" {
		name = strings.TrimPrefix(name, "/")
	}
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		return "", false
	}
	return filepath.Clean(name), true
}
