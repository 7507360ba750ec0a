package project

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/hashing"
)

// TreeName is the name of the whole package with a t1 hash. It is short, because
// file systems keep short links in the directory (ext4: up to 59 bytes) and give
// longer ones a block of their disk each, which takes ten times as long, and a
// call has hundreds. Its 80 bits need not be the whole hash, because a
// package that is found there is hashed.
func TreeName(t1 hashing.Hash) string {
	sum := sha256.Sum256([]byte(t1))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// TreePath is where the project has a whole package, or would have it.
func (p *Project) TreePath(name string) string {
	return filepath.Join(p.path, filepath.FromSlash(treesName), name)
}

// Trees are the names of the whole packages that the project has; none if they
// cannot be listed.
func (p *Project) Trees() []string {
	entries, _ := fs.ReadDir(p.modules.FS(), treesName)
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names
}

// KeepTrees removes the packages whose names are not in keep.
func (p *Project) KeepTrees(keep map[string]bool) error {
	return p.keepOnly(treesName, keep)
}

// keepOnly removes what is in a directory of ours under other names.
func (p *Project) keepOnly(dir string, keep map[string]bool) error {
	entries, err := fs.ReadDir(p.modules.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if !keep[entry.Name()] {
			err = errors.Join(err, p.modules.RemoveAll(path.Join(dir, entry.Name())))
		}
	}
	return err
}

// TreeLink is the target of a link at a path in a key's directory that leads to
// the same path in a whole package. It is relative, so that the project can be
// moved.
func TreeLink(name, pathInPackage string) string {
	up := strings.Repeat("../", strings.Count(pathInPackage, "/")+1)
	return up + path.Join(treesName, name, pathInPackage)
}

// LinkedTree is TreeLink undone: the name of the package to which a link at a
// path leads, or "" for any other link.
func LinkedTree(target, pathInPackage string) string {
	ok, rest := true, target
	for up := strings.Count(pathInPackage, "/") + 1; ok && up > 0; up-- {
		rest, ok = strings.CutPrefix(rest, "../")
	}
	if ok {
		rest, ok = strings.CutPrefix(rest, treesName+"/")
	}
	name, inside, _ := strings.Cut(rest, "/")
	if !ok || inside != pathInPackage || name == "" || name == ".." {
		return ""
	}
	return name
}
