package store

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// MaxFile is the maximum size in bytes of a package's file that is hashed in a directory where other
// programs may have put something else. It is far above the limit of package getmodules.
const MaxFile = 1 << 30

// Tree is the tree of a module package, in the store or in a project: its files without version
// control metadata. Its hashes are computed when they are first needed, and only once, because each
// call of a package asks for them. The caller compares them with the hashes of a lock. It is safe
// for concurrent use.
type Tree struct {
	*hashing.Tree
	h1, t1 func() hashing.Hash
}

// NewTree returns a tree whose hashes have not been computed yet.
func NewTree(tree *hashing.Tree) *Tree {
	return &Tree{tree, sync.OnceValue(tree.H1), sync.OnceValue(tree.T1)}
}

// ReadTree reads the package in a directory. If the directory does not exist, the error wraps
// fs.ErrNotExist.
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

// H1 returns the tree's h1 hash.
func (t *Tree) H1() hashing.Hash { return t.h1() }

// T1 returns the tree's t1 hash.
func (t *Tree) T1() hashing.Hash { return t.t1() }

// Hash returns the tree's hash with a scheme, or "" for schemes that trees do not have.
func (t *Tree) Hash(scheme string) hashing.Hash {
	switch scheme {
	case "h1":
		return t.H1()
	case "t1":
		return t.T1()
	}
	return ""
}

// ErrNoSubdir says that a package does not have the subdirectory that the module should be in.
var ErrNoSubdir = errors.New("module subdirectory not found")

// Subdir returns the directory of the package that a pattern matches. Registries use patterns for
// archives with a single directory whose name the forge chooses. A pattern must match exactly one
// directory. If pattern has no special characters, it is returned unchanged, even by a nil Tree.
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
				return "", fmt.Errorf("%w: %q is not a valid pattern: %w", ErrNoSubdir, pattern, err)
			}
			if ok {
				match = dir
				count++
			}
		}
	}
	if count != 1 {
		return "", fmt.Errorf("%w: the pattern %q must match exactly one directory of the package and matches %d", ErrNoSubdir, pattern, count)
	}
	return match, nil
}

// IsPattern reports whether a subdirectory is a pattern.
func IsPattern(subdir string) bool { return strings.ContainsAny(subdir, `*?[\`) }

// CleanSubdir returns the normal form of a directory of a package. The root of the package is "".
func CleanSubdir(subdir string) string {
	if subdir = strings.TrimLeft(path.Clean(subdir), "/"); subdir == "." {
		return ""
	}
	return subdir
}
