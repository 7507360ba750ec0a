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
	stage string         // this process's directory on the stage
	held  *filelock.Lock // on it; nil if it cannot be locked

	mu    sync.Mutex
	inUse map[string]*filelock.Lock // by the names of trees
}

// Open makes the cache at dir if it is absent, and fails if it cannot be written:
// read-only and full file systems, and other users' directories, show here and
// not in the middle of an installation.
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

// makeDir makes a directory. What else has its name is removed: links are not
// followed.
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
		return nil // another process was faster
	}
	return err
}

// makeStage makes this process's directory on the stage and locks it. Another
// process may take it for a leftover before it is locked.
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

// probe writes a file, which a full disk refuses.
func (c *Cache) probe() error {
	name := filepath.Join(c.stage, "probe")
	err := step.Do("cache.stage.probe", func() error { return os.WriteFile(name, make([]byte, 4096), 0o600) })
	return errors.Join(err, os.Remove(name))
}

// Close gives up the trees in use and removes what is still staged. What cannot be
// removed, the next process removes.
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

// Dir is the cache's directory.
func (c *Cache) Dir() string { return c.dir }

// StageDir is a directory that is this process's alone until Close.
func (c *Cache) StageDir() string { return c.stage }

// Stage returns a fresh path for a tree on its way in. The path does not exist
// yet. It is on the same file system as the published trees.
func (c *Cache) Stage() string { return filepath.Join(c.stage, rand.Text()) }

// unlockedAge is how old a stage must be to be a leftover if it cannot be
// locked. No fetch takes that long.
const unlockedAge = 24 * time.Hour

// sweep removes what killed processes left on the stage. What cannot be removed
// does no harm.
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

// Has reports whether a tree with this t1 hash is published. It stays until the
// cache is closed.
func (c *Cache) Has(t1 hashing.Hash) bool { return c.use(FileName(t1)) }

// use holds a tree. It is false if the tree is not there, or is being removed.
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

// release gives up a tree.
func (c *Cache) release(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lock := c.inUse[name]; lock != nil {
		_ = lock.Release()
		delete(c.inUse, name)
	}
}

// publishAttempts bounds how often a tree that another process removes at the
// same time is published again.
const publishAttempts = 10

// Publish moves the tree at staged, which was hashed from disk, to its name, and
// holds it. If the tree is published already, the staged one is dropped.
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
		// Held before it can be seen, so that nobody removes it.
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

// clear sets aside what has the name of a tree and is not a directory.
func (c *Cache) clear(name string) error {
	info, err := os.Lstat(c.treePath(name))
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // what cannot be looked at fails the rename
	}
	return c.quarantine(name)
}

// quarantine sets a tree aside.
func (c *Cache) quarantine(name string) error {
	c.release(name)
	dir := filepath.Join(c.dir, quarantineName)
	if err := makeDir(dir); err != nil { // a clean may have removed it
		return err
	}
	to := filepath.Join(dir, rand.Text())
	err := step.Do("cache.tree.quarantine", func() error { return os.Rename(c.treePath(name), to) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster
	}
	return err
}

// TreePath is where the tree with this hash is, or would be. Its content was not
// compared with the hash: see [Cache.CopyTo].
func (c *Cache) TreePath(t1 hashing.Hash) string { return c.treePath(FileName(t1)) }

func (c *Cache) treePath(name string) string { return filepath.Join(c.dir, treesName, name) }

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

// usedAgain is how old the mark of the last use must be to be worth a write.
const usedAgain = time.Hour

// markUsed notes that something was used just now, as far as it can be written.
func markUsed(path string) {
	now := time.Now()
	if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > usedAgain {
		_ = os.Chtimes(path, now, now)
	}
}
