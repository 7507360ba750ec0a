package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

// TreeName returns the name of the shared tree with a t1 hash. It is short because file systems store
// short link targets in the inode (ext4: up to 59 bytes). Longer targets take a disk block each and ten
// times as long to write, and a call has hundreds. 80 bits are enough: a tree is hashed before use.
func TreeName(t1 hashing.Hash) string {
	sum := sha256.Sum256([]byte(t1))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// TreePath returns the path of a shared tree, which need not exist.
func (p *Project) TreePath(name string) string {
	return filepath.Join(p.path, filepath.FromSlash(treesName), name)
}

// Trees returns the names of the project's shared trees.
func (p *Project) Trees() []string {
	entries, _ := fs.ReadDir(p.modules.FS(), treesName)
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names
}

func (p *Project) KeepTrees(keep map[string]bool) error {
	return p.keepOnly(treesName, keep)
}

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

// TreeLink returns the target for a link at pathInPackage in a call's directory: the same path in a
// shared tree, relative so that the project can be moved.
func TreeLink(name, pathInPackage string) string {
	up := strings.Repeat("../", strings.Count(pathInPackage, "/")+1)
	return up + path.Join(treesName, name, pathInPackage)
}

// LinkedTree is the inverse of TreeLink. It returns the name of the tree, or "" for another link.
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

// Sums reads the sums saved under name, without verifying them: callers compare them with a hash of the
// lock. The error wraps fs.ErrNotExist if there are none.
func (p *Project) Sums(name string) ([]byte, error) {
	return atomicfile.Read(p.modules, path.Join(sumsName, name), maxSums)
}

func (p *Project) SaveSums(name string, sums []byte) error {
	if now, err := p.Sums(name); err == nil && bytes.Equal(now, sums) {
		return nil
	}
	if err := p.modules.MkdirAll(sumsName, 0o777); err != nil {
		return err
	}
	file := path.Join(sumsName, name)
	if info, err := p.modules.Lstat(file); err == nil && !info.Mode().IsRegular() {
		if err := p.modules.RemoveAll(file); err != nil {
			return err
		}
	}
	return atomicfile.Write(p.modules, file, sums, atomicfile.Options{Disposable: true, Step: "project.sums"})
}

func (p *Project) KeepSums(keep map[string]bool) error { return p.keepOnly(sumsName, keep) }
