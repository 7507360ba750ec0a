package store

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// MaxFile is in bytes, for files in directories where other programs may have put something.
const MaxFile = packagelimits.MaxBytes

// Tree is the tree of a module package, without version control metadata. Its hashes, for which each call
// of a package asks, are computed once. It is safe for concurrent use.
type Tree struct {
	*hashing.Tree
	h1, t1 func() hashing.Hash
}

// NewTree computes no hashes yet.
func NewTree(tree *hashing.Tree) *Tree {
	return &Tree{tree, sync.OnceValue(tree.H1), sync.OnceValue(tree.T1)}
}

// ReadTree reads a directory. If it does not exist, the error wraps fs.ErrNotExist.
func ReadTree(ctx context.Context, dir string) (*Tree, error) {
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := hashing.Reader{MaxFile: MaxFile}.Read(ctx, hashing.RootFS(root))
	if err != nil {
		return nil, err
	}
	return NewTree(tree), nil
}

func (t *Tree) H1() hashing.Hash { return t.h1() }

func (t *Tree) T1() hashing.Hash { return t.t1() }

// Hash returns "" for schemes that trees do not have.
func (t *Tree) Hash(scheme string) hashing.Hash {
	switch scheme {
	case "h1":
		return t.H1()
	case "t1":
		return t.T1()
	}
	return ""
}

// Below returns the tree of a directory, as if it were a package of its own.
func (t *Tree) Below(dir string) *Tree {
	if dir = pathsafe.CleanSubdir(dir); dir == "" {
		return t
	}
	var below hashing.Tree
	for _, e := range t.Part(dir) {
		if name, ok := strings.CutPrefix(e.Path, dir+"/"); ok {
			e.Path = name
			below.Entries = append(below.Entries, e)
		}
	}
	return NewTree(&below)
}

// Subdir returns the only directory that a pattern matches. Registries use patterns for archives with a
// directory that the forge names. Other text is returned unchanged, even by a nil Tree.
func (t *Tree) Subdir(pattern string) (string, error) {
	if !IsPattern(pattern) {
		return pattern, nil
	}
	match := ""
	count := 0
	seen := make(map[string]bool)
	for _, entry := range t.Entries {
		for dir := path.Dir(entry.Path); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			ok, err := path.Match(path.Clean(pattern), dir)
			if err != nil {
				return "", fmt.Errorf("%w: %q is not a valid pattern: %w", config.ErrNoSubdir, pattern, err)
			}
			if ok {
				match = dir
				count++
			}
		}
	}
	if count != 1 {
		return "", fmt.Errorf("%w: the pattern %q must match exactly one directory of the package and matches %d", config.ErrNoSubdir, pattern, count)
	}
	return match, nil
}

func IsPattern(subdir string) bool { return strings.ContainsAny(subdir, `*?[\`) }
