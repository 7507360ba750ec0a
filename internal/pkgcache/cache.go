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
	"sync"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/filelock"
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
	stage string         // this process's staging directory
	held  *filelock.Lock // the lock on stage; nil if it cannot be locked

	mu    sync.Mutex
	inUse map[string]*filelock.Lock // by tree name
}

// Open opens the cache at dir and creates it if it does not exist. It fails if the cache is not
// writable, for example because the file system is read-only or full or the directory belongs to
// another user. So an installation does not fail midway.
func Open(dir string, key *userkey.Key) (*Cache, error) {
	c := &Cache{dir: dir, key: key, inUse: make(map[string]*filelock.Lock)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{treesName, stageName, quarantineName, answersName, confirmedName} {
		if err := makeDir(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if err := c.makeStage(); err != nil {
		return nil, err
	}
	if err := c.probe(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.sweep()
	return c, nil
}

// makeDir creates a directory. It removes a link or file of that name.
func makeDir(name string) error {
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	err = step.Do("cache.dirs.mkdir", func() error { return os.Mkdir(name, 0o700) })
	if errors.Is(err, fs.ErrExist) {
		return nil // another process created it
	}
	return err
}

// makeStage creates this process's staging directory and locks it. If another process removes the
// directory as a leftover before it is locked, makeStage tries again.
func (c *Cache) makeStage() error {
	for {
		name := filepath.Join(c.dir, stageName, rand.Text())
		if err := step.Do("cache.stage.mkdir", func() error { return os.Mkdir(name, 0o700) }); err != nil {
			return err
		}
		lock := filelock.Dir(name)
		ok, err := lock.TryExclusive()
		if errors.Is(err, filelock.ErrUnsupported) {
			c.stage = name
			return nil
		}
		if ok && lock.IsAt(name) {
			c.stage, c.held = name, lock
			return nil
		}
		if err := errors.Join(err, lock.Release()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// probe writes a file to find out whether the disk is full.
func (c *Cache) probe() error {
	name := filepath.Join(c.stage, "probe")
	err := step.Do("cache.stage.probe", func() error { return os.WriteFile(name, make([]byte, 4096), 0o600) })
	return errors.Join(err, os.Remove(name))
}

// Close releases the trees in use and removes the staging directory. Files that
// cannot be removed now are removed by the next process.
func (c *Cache) Close() error {
	_ = step.Do("cache.stage.remove", func() error { return os.RemoveAll(c.stage) })
	var err error
	if c.held != nil {
		err = errors.Join(err, c.held.Release())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, lock := range c.inUse {
		err = errors.Join(err, lock.Release())
	}
	clear(c.inUse)
	return err
}

// Dir returns the cache's directory.
func (c *Cache) Dir() string { return c.dir }

// StageDir returns this process's staging directory, which no other process uses
// until Close.
func (c *Cache) StageDir() string { return c.stage }

// Stage returns a new path for a tree that will be published. Nothing exists there yet. The path
// is on the same file system as the published trees.
func (c *Cache) Stage() string { return filepath.Join(c.stage, rand.Text()) }

// unlockedAge is the age at which a staging directory is removed on file systems without locks.
// No fetch takes that long.
const unlockedAge = 24 * time.Hour

// sweep removes the staging directories of killed processes. Failures are ignored,
// because these directories are never read.
func (c *Cache) sweep() {
	entries, err := os.ReadDir(filepath.Join(c.dir, stageName))
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := filepath.Join(c.dir, stageName, entry.Name())
		if name == c.stage {
			continue
		}
		if !entry.IsDir() {
			_ = os.Remove(name)
			continue
		}
		lock := filelock.Dir(name)
		ok, err := lock.TryExclusive()
		if info, infoErr := entry.Info(); errors.Is(err, filelock.ErrUnsupported) && infoErr == nil {
			ok = time.Since(info.ModTime()) > unlockedAge
		}
		if ok {
			_ = step.Do("cache.leftover.remove", func() error { return os.RemoveAll(name) })
			_ = lock.Release()
		}
	}
}

// Has reports whether a tree with this t1 hash is published. If it is, no process
// removes it until the cache is closed.
func (c *Cache) Has(t1 hashing.Hash) bool { return c.use(FileName(t1)) }

// use takes a shared lock on a tree. It returns false if the tree does not exist or is being
// removed.
func (c *Cache) use(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := c.treePath(name)
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return false
	}
	if c.inUse[name] != nil {
		return true
	}
	lock := filelock.Dir(path)
	ok, err := lock.TryShared()
	switch {
	case errors.Is(err, filelock.ErrUnsupported):
		return true
	case err != nil || !ok:
		return false
	case !lock.IsAt(path):
		_ = lock.Release()
		return false
	}
	c.inUse[name] = lock
	return true
}

// release releases this process's lock on a tree.
func (c *Cache) release(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lock := c.inUse[name]; lock != nil {
		_ = lock.Release()
		delete(c.inUse, name)
	}
}

// publishAttempts is the number of attempts if another process removes the tree at the same time.
const publishAttempts = 10

// Publish renames the tree at staged to its published name and locks it until the cache is
// closed. The tree must have been hashed from disk. If the tree is already published, Publish
// removes the staged one.
func (c *Cache) Publish(staged string, t1 hashing.Hash) error {
	name := FileName(t1)
	var err error
	for range publishAttempts {
		if c.use(name) {
			return step.Do("cache.tree.drop", func() error { return os.RemoveAll(staged) })
		}
		if err = c.clear(name); err != nil {
			return err
		}
		// Lock the tree before it becomes visible, so that no process removes it.
		lock := filelock.Dir(staged)
		if _, lockErr := lock.TryShared(); lockErr != nil {
			lock = nil
		}
		err = step.Do("cache.tree.publish", func() error { return os.Rename(staged, c.treePath(name)) })
		if err == nil {
			c.hold(name, lock)
			return nil
		}
		if lock != nil {
			_ = lock.Release()
		}
	}
	return err
}

func (c *Cache) hold(name string, lock *filelock.Lock) {
	if lock == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inUse[name] = lock
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
	c.release(name)
	dir := filepath.Join(c.dir, quarantineName)
	if err := makeDir(dir); err != nil { // cleaning may have removed it
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

// usedResolution is the accuracy of a recorded time of use: a more recent one is not updated.
const usedResolution = time.Hour

// markUsed records the time of use as the modification time, if it can be set.
func markUsed(path string) {
	now := time.Now()
	if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > usedResolution {
		_ = os.Chtimes(path, now, now)
	}
}
