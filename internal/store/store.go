package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// Store is a user's cache at a directory, which need not exist yet.
type Store struct{ Dir string }

// ErrDamaged says that a tree in the cache was not what its name says. It was
// moved out of the way.
var ErrDamaged = errors.New("the cached tree does not have the hash of its name")

// Stage returns a fresh path for a tree on its way in. The path does not exist
// yet. It is on the same file system as the published trees.
func (s Store) Stage() (string, error) {
	dir := filepath.Join(s.Dir, "stage")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(dir, rand.Text()), nil
}

// staleAfter is how old what is staged must be to be taken for a leftover of a
// process that was killed. No fetch takes that long.
const staleAfter = 24 * time.Hour

// Sweep removes what killed processes left on the stage: trees on their way in
// and, beside them, keys that were handed to git. It does what it can.
func (s Store) Sweep() {
	dir := filepath.Join(s.Dir, "stage")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // most often there is none yet
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
}

// Has reports whether a tree with this t1 hash is published.
func (s Store) Has(t1 hashing.Hash) bool {
	info, err := os.Lstat(s.TreePath(t1))
	return err == nil && info.IsDir()
}

// Publish moves the tree at staged, which was hashed from disk, to its name.
// Where the tree is published already, the staged one is dropped.
func (s Store) Publish(staged string, t1 hashing.Hash) error {
	name := s.TreePath(t1)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if !s.Has(t1) {
		if err := s.clear(name); err != nil {
			return err
		}
		err := os.Rename(staged, name)
		if err == nil {
			return nil
		}
		if !s.Has(t1) { // else another process was faster
			return err
		}
	}
	return os.RemoveAll(staged)
}

// clear sets aside what has the name of a tree and is no directory.
func (s Store) clear(name string) error {
	info, err := os.Lstat(name)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // there is nothing, or what cannot be looked at fails the rename
	}
	return s.quarantine(name)
}

// CopyTo copies the tree with this hash to dst, which must not exist, and
// hashes what it wrote. A tree that is absent is fs.ErrNotExist; one that is
// damaged goes to quarantine and is [ErrDamaged]. Nothing is left at dst after
// an error.
func (s Store) CopyTo(ctx context.Context, dst string, t1 hashing.Hash) (*hashing.Tree, error) {
	name := s.TreePath(t1)
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := copyTree(ctx, dst, root.FS())
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), os.RemoveAll(dst))
	case err == nil && tree.T1() == t1:
		markUsed(name)
		return tree, nil
	case err != nil && !damages(err):
		return nil, errors.Join(err, os.RemoveAll(dst))
	}
	return nil, errors.Join(ErrDamaged, s.quarantine(name), os.RemoveAll(dst))
}

// damages reports whether a copy failed for what the tree holds rather than
// for what the machine could not do.
func damages(err error) bool {
	var badPath *treewriter.PathError
	var badTree *hashing.TreeError
	var failed *fs.PathError
	return errors.As(err, &badPath) || errors.As(err, &badTree) && !errors.As(err, &failed) || errors.Is(err, fs.ErrNotExist)
}

func copyTree(ctx context.Context, dst string, src fs.FS) (*hashing.Tree, error) {
	if err := treewriter.CopyTree(ctx, dst, src, treewriter.CopyOptions{}); err != nil {
		return nil, err
	}
	copied, err := os.OpenRoot(dst)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	return hashing.ReadTree(hashing.RootFS(copied))
}

func (s Store) quarantine(name string) error {
	dir := filepath.Join(s.Dir, "quarantine")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	err := os.Rename(name, filepath.Join(dir, rand.Text()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster
	}
	return err
}

// TreePath is where the tree with this hash is, or would be. Nobody has checked
// it: see [Store.CopyTo].
func (s Store) TreePath(t1 hashing.Hash) string {
	return filepath.Join(s.Dir, "tree", FileName(t1))
}

// FileName is a hash as a file name: its scheme and, in hex, its value. Names
// in base64 would hold slashes and differ only in case.
func FileName(h hashing.Hash) string {
	scheme, value, _ := strings.Cut(string(h), ":")
	raw, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		raw = []byte(value)
	}
	return fmt.Sprintf("%s-%s", scheme, hex.EncodeToString(raw))
}
