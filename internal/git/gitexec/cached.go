package gitexec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
)

// shallowName has the commits whose history is not in the packs, one in each line.
const (
	shallowName = "shallow"
	maxShallow  = 64 << 20
)

// cached is what the cache keeps of one remote. Git never uses this directory: packs are linked into the
// repository of a fetch, and out of it. So any number of processes may use it, and files of a killed git do not get
// here.
type cached struct {
	// dir is "" if nothing is kept.
	dir string
}

// lock makes fetches of the same remote wait, so that they find what this one has fetched.
func (c cached) lock(ctx context.Context) (unlock func(), err error) {
	if c.dir == "" {
		return func() {}, nil
	}
	if err := ownDir(filepath.Dir(c.dir)); err != nil {
		return nil, err
	}
	lock := filelock.File(c.dir + ".lock")
	if err := lock.Exclusive(ctx, 0, nil); err != nil {
		return nil, fmt.Errorf("lock the git store: %w", err)
	}
	if info, err := os.Lstat(c.dir + ".lock"); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNotFile, lock.Release())
	}
	return func() { _ = lock.Release() }, nil
}

type pack string

// packName has a hash by the algorithm that names the objects.
var packName = lazyregexp.New(`^pack-([0-9a-f]{40}|[0-9a-f]{64})\.(pack|idx)$`)

func (p pack) format() string { return objectFormat(strings.TrimPrefix(string(p), "pack-")) }

func (c cached) packs() []pack {
	if c.dir == "" || checkOwnDir(filepath.Dir(c.dir)) != nil || checkOwnDir(c.dir) != nil {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(c.dir, now, now) // for CachedStores; errors are ignored, so that a full cache still works
	return packsIn(c.dir)
}

func packsIn(dir string) (packs []pack) {
	entries, _ := os.ReadDir(dir) // what cannot be listed is fetched again
	for _, entry := range entries {
		if name, isIndex := strings.CutSuffix(entry.Name(), ".idx"); isIndex && packName().MatchString(entry.Name()) {
			packs = append(packs, pack(name))
		}
	}
	return packs
}

// link gives the files of a pack another name. Git finds a pack by its index.
func (p pack) link(from, to string) error {
	for _, extension := range []string{".pack", ".idx"} {
		name := string(p) + extension
		if err := linkFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// linkFile makes a link to a regular file, or a copy of it.
func linkFile(from, to string) (err error) {
	err = os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		if info, err := os.Lstat(to); err != nil || info.Mode().IsRegular() {
			return err
		}
		return errors.Join(errNotFile, os.Remove(to))
	}
	root, err := os.OpenRoot(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer root.Close()
	source, err := atomicfile.Open(root, filepath.Base(from), 1<<62)
	if err != nil {
		return err
	}
	defer source.Close()
	made, err := os.CreateTemp(filepath.Dir(to), "tmp_")
	if err != nil {
		return err
	}
	_, err = io.Copy(made, source)
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), to)
	}
	if err != nil {
		_ = os.Remove(made.Name())
	}
	return err
}

func (c cached) shallow() []string {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	text, err := atomicfile.Read(root, shallowName, maxShallow)
	if err != nil {
		return nil // git then fetches more than necessary
	}
	ids := strings.Fields(string(text))
	ids = slices.DeleteFunc(ids, func(id string) bool { return !git.IsObjectID(id) })
	slices.Sort(ids)
	return slices.Compact(ids)
}

// add keeps packs and the list of shallow commits. If what is there was not made here, it is removed.
func (c cached) add(packDir string, shallow []byte) error {
	err := c.put(packDir, shallow)
	if foreign(err) != nil || errors.Is(err, atomicfile.ErrIrregular) {
		return errors.Join(os.RemoveAll(c.dir), c.put(packDir, shallow))
	}
	return err
}

func (c cached) put(packDir string, shallow []byte) error {
	if err := ownDir(c.dir); err != nil {
		return err
	}
	for _, p := range packsIn(packDir) {
		if err := p.link(packDir, c.dir); err != nil {
			return err
		}
	}
	// After a crash before this, git fetches some objects again.
	return atomicfile.WriteFile(filepath.Join(c.dir, shallowName), shallow, atomicfile.Options{Disposable: true, Step: "cache.git"})
}

var (
	errNotDirectory = errors.New("not a directory")
	errNotFile      = errors.New("a file in it is not a regular one")
	errOtherOwner   = errors.New("it belongs to another user")
)

func reasonOf(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return cmp.Or(foreign(err), err).Error()
}

// foreign returns the reason if what is in the cache was not made here, and otherwise nil.
func foreign(err error) error {
	for _, reason := range []error{errNotDirectory, errNotFile, errOtherOwner} {
		if errors.Is(err, reason) {
			return reason
		}
	}
	return nil
}

// ownDir refuses a link, which could point to another user's directories.
func ownDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkOwnDir(dir)
}

func checkOwnDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: dir, Err: errNotDirectory}
	case ownedByOther(info):
		return &fs.PathError{Op: "open", Path: dir, Err: errOtherOwner}
	}
	return nil
}

type CachedStore struct {
	Dir string
	// Used is the time of the last fetch into the store, or of the last read from it.
	Used time.Time
}

var storeName = lazyregexp.New(`^[0-9a-f]{64}$`)

// CachedStores returns the stores below a Fetcher's CacheDir, sorted; none if it is a link.
func CachedStores(cacheDir string) ([]CachedStore, error) {
	dir := filepath.Join(cacheDir, "git")
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var stores []CachedStore
	for _, entry := range entries {
		if !entry.IsDir() || !storeName().MatchString(entry.Name()) {
			continue // a lock file
		}
		found := CachedStore{Dir: filepath.Join(dir, entry.Name())}
		if info, err := entry.Info(); err == nil {
			found.Used = info.ModTime()
		}
		stores = append(stores, found)
	}
	return stores, err
}

// Remove leaves running fetches their own links, and the lock file to other processes.
func (s CachedStore) Remove() error {
	err := os.RemoveAll(s.Dir)
	if info, failed := os.Lstat(s.Dir + ".lock"); failed == nil && !info.Mode().IsRegular() {
		err = errors.Join(err, os.RemoveAll(s.Dir+".lock"))
	}
	return err
}
