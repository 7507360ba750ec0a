package pkgcache

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/userkey"
)

// The directories in a cache.
const (
	treesName      = "tree"
	stageName      = "stage"
	quarantineName = "quarantine"
	answersName    = "fetch"
	confirmedName  = "confirmed"
)

// Cache is an open cache. It must be closed.
type Cache struct {
	dir   string
	key   *userkey.Key
	stage *dirstore.Stage
	inUse dirstore.InUse // the trees that are used until Close
}

// steps is the prefix of the names of the steps that change a cache; see package step.
const steps = "cache"

// Open opens the cache at dir and creates it if it does not exist. It fails if the cache is not
// writable, for example because the file system is read-only or full or the directory belongs to
// another user. So an installation does not fail midway.
func Open(dir string, key *userkey.Key) (*Cache, error) {
	c := &Cache{dir: dir, key: key}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{treesName, stageName, quarantineName, answersName, confirmedName} {
		if err := dirstore.MakeDir(filepath.Join(dir, name), steps); err != nil {
			return nil, err
		}
	}
	var err error
	if c.stage, err = dirstore.NewStage(filepath.Join(dir, stageName), steps); err != nil {
		return nil, err
	}
	if err := c.probe(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// probe writes a file to find out whether the disk is full.
func (c *Cache) probe() error {
	name := c.stage.Path()
	err := step.Do("cache.stage.probe", func() error { return os.WriteFile(name, make([]byte, 4096), 0o600) })
	return errors.Join(err, os.Remove(name))
}

// Close releases the trees in use and removes the staging directory. Files that
// cannot be removed now are removed by the next process.
func (c *Cache) Close() error { return errors.Join(c.stage.Close(), c.inUse.Close()) }

// Dir returns the cache's directory.
func (c *Cache) Dir() string { return c.dir }

// StageDir returns this process's staging directory, which no other process uses
// until Close.
func (c *Cache) StageDir() string { return c.stage.Dir() }

// Stage returns a new path for a tree that will be published. Nothing exists there yet. The path
// is on the same file system as the published trees.
func (c *Cache) Stage() string { return c.stage.Path() }

// Has reports whether a tree with this t1 hash is published. If it is, no process
// removes it until the cache is closed.
func (c *Cache) Has(t1 hashing.Hash) bool { return c.inUse.Use(c.TreePath(t1)) }

// publishAttempts is the number of attempts if another process removes the tree at the same time.
const publishAttempts = 10

// Publish renames the tree at staged to its published name and locks it until the cache is
// closed. The tree must have been hashed from disk. If the tree is already published, Publish
// removes the staged one.
func (c *Cache) Publish(staged string, t1 hashing.Hash) error {
	name := FileName(t1)
	path := c.treePath(name)
	var err error
	for range publishAttempts {
		if c.inUse.Use(path) {
			return step.Do("cache.tree.drop", func() error { return os.RemoveAll(staged) })
		}
		if err = c.clear(name); err != nil {
			return err
		}
		err = c.inUse.Publish(staged, path, func() error {
			return step.Do("cache.tree.publish", func() error { return os.Rename(staged, path) })
		})
		if err == nil {
			return nil
		}
	}
	return err
}

// clear quarantines anything that has the name of a tree but is not a directory.
func (c *Cache) clear(name string) error {
	info, err := os.Lstat(c.treePath(name))
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // after another error the rename will fail
	}
	return c.quarantine(name)
}

// quarantine releases a tree and moves it to the quarantine directory.
func (c *Cache) quarantine(name string) error {
	c.inUse.Release(c.treePath(name))
	dir := filepath.Join(c.dir, quarantineName)
	if err := dirstore.MakeDir(dir, steps); err != nil { // cleaning may have removed it
		return err
	}
	to := filepath.Join(dir, rand.Text())
	err := step.Do("cache.tree.quarantine", func() error { return os.Rename(c.treePath(name), to) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process moved it
	}
	return err
}

// TreePath returns the path of the tree with this hash. The tree need not exist, and its content
// has not been compared with the hash; see [Cache.CopyTo].
func (c *Cache) TreePath(t1 hashing.Hash) string { return c.treePath(FileName(t1)) }

func (c *Cache) treePath(name string) string { return filepath.Join(c.dir, treesName, name) }

// FileName returns the file name for a hash: its scheme and its value in hexadecimal. Base64
// would contain slashes, and names that differ only in case.
func FileName(h hashing.Hash) string {
	scheme, value, _ := strings.Cut(string(h), ":")
	raw, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		raw = []byte(value)
	}
	return fmt.Sprintf("%s-%s", scheme, hex.EncodeToString(raw))
}
