package providerzip

import (
	"context"
	"os"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
)

// Limits are those of an archive's content.
func Limits() treewriter.Limits {
	return treewriter.Limits{TreeBytes: maxTree, FileBytes: maxFile, Entries: maxEntries}
}

// HashDir returns the h1 hash of an unpacked package. One that exceeds [Limits] is an error; no file is
// read whose size is too large, however little of it is on disk. The error is a *[hashing.TreeError] unless
// the directory cannot be opened.
func HashDir(ctx context.Context, dir string) (hashing.Hash, error) {
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	tree, err := ReadRoot(ctx, root)
	if err != nil {
		return "", err
	}
	return tree.H1(), nil
}

// ReadRoot is [HashDir] for an open directory, and returns the whole tree.
func ReadRoot(ctx context.Context, root *os.Root) (*hashing.Tree, error) {
	limits := Limits()
	reader := hashing.Reader{MaxFile: limits.FileBytes, MaxTree: limits.TreeBytes, MaxEntries: limits.Entries}
	return reader.Read(ctx, hashing.RootFS(root))
}
