package gitexec

import (
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

	"github.com/gofrs/flock"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/git"
)

// lockRetry is the interval at which a lock is tried again while another process holds it.
const lockRetry = 20 * time.Millisecond

// shallowName is the file with the commits whose history is not in the packs, one in each line.
// maxShallow bounds its size, in bytes.
const (
	shallowName = "shallow"
	maxShallow  = 64 << 20
)

// cached is what the cache keeps of one remote: packs with their indexes, and the list of shallow
// commits. Git never uses this directory: packs are linked into the repository of a fetch, and out of it.
// So any number of processes may use it, files of a killed git do not get here, and only the lists of
// two fetches must not be written at the same time.
type cached struct {
	// dir is "" if nothing is kept.
	dir string
}

// lock keeps other fetches of the same remote waiting, so that they find what this one has fetched.
func (c cached) lock(ctx context.Context) (unlock func(), err error) {
	if c.dir == "" {
		return func() {}, nil
	}
	if err := ownDir(filepath.Dir(c.dir)); err != nil {
		return nil, err
	}
	// The lock file is also used between goroutines of one process, because flock(2) distinguishes
	// file descriptors, not processes.
	l := flock.New(c.dir+".lock", flock.SetFlag(lockFlags), flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, lockRetry); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the git store: %w", err), l.Close())
	}
	if info, err := l.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNotFile, l.Close())
	}
	return func() { _ = l.Close() }, nil
}

// pack is the name of a pack, without an extension.
type pack string

// packName matches the names of packs and their indexes. The digits are a hash by the algorithm that
// names the objects.
var packName = pattern(`^pack-([0-9a-f]{40}|[0-9a-f]{64})\.(pack|idx)$`)

func (p pack) format() string { return objectFormat(strings.TrimPrefix(string(p), "pack-")) }

// packs returns the packs in the cache.
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

// link gives the files of a pack another name, unless they have it. Git finds a pack by its index.
func (p pack) link(from, to string) error {
	for _, extension := range []string{".pack", ".idx"} {
		name := string(p) + extension
		if err := linkFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// linkFile makes to another name of a regular file, or a copy of it.
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

// shallow returns the shallow commits in the cache, sorted. What is no commit is left out.
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

// add keeps the packs in a directory, and the list of shallow commits. It removes everything that is
// kept if that was not made here.
func (c cached) add(packDir string, shallow []byte) error {
	err := c.put(packDir, shallow)
	for _, foreign := range []error{errNotDirectory, errNotFile, errOtherOwner, atomicfile.ErrIrregular} {
		if errors.Is(err, foreign) {
			return errors.Join(os.RemoveAll(c.dir), c.put(packDir, shallow))
		}
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

// reasonOf returns in a few words why the cache cannot be used.
func reasonOf(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	for _, known := range []error{errNotDirectory, errNotFile, errOtherOwner} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// ownDir creates a directory. It must be a real directory, because a link could point to another
// user's directories.
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

// CachedStore is the directory in which a Fetcher's CacheDir keeps the objects of a remote.
type CachedStore struct {
	Dir string
	// Used is the time of the last fetch into the store, or of the last read from it.
	Used time.Time
}

// storeName matches the directory names of stores.
var storeName = pattern(`^[0-9a-f]{64}$`)

// CachedStores returns the stores below a Fetcher's CacheDir, sorted by directory. It returns none if the
// directory does not exist, or is a link.
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

// Remove removes the store. Fetches that are running have links of their own. The lock file stays,
// because another process may be waiting for it, unless it is not a regular file.
func (s CachedStore) Remove() error {
	err := os.RemoveAll(s.Dir)
	if info, failed := os.Lstat(s.Dir + ".lock"); failed == nil && !info.Mode().IsRegular() {
		err = errors.Join(err, os.RemoveAll(s.Dir+".lock"))
	}
	return err
}
