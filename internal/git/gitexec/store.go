package gitexec

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/cotterpin/cotter/internal/git"
)

// lockRetry is the interval at which a lock is tried again while another process holds it.
const lockRetry = 20 * time.Millisecond

// maxFetchHead bounds the length of a line in FETCH_HEAD, in bytes. It has an object name, a
// ref and a URL.
const maxFetchHead = 64 << 10

// store is a bare repository with the commits that were fetched from one remote. Any number of
// processes may use it. Fetching requires an exclusive lock, and reading a shared one. The lock
// file is also used between goroutines of one process, because flock(2) distinguishes file
// descriptors, not processes.
type store struct {
	dir string
	// lockFile is next to dir, so that dir can be removed. It is "" for a private store, which
	// needs no lock.
	lockFile string
	// format is the hash for object names, once it is known.
	format string
	// fresh is set if this fetch created the store. A second attempt would then not find a
	// better one.
	fresh bool
	// held is a locked file that every git process which writes to the store inherits. It is
	// nil if it is not needed.
	held *os.File
}

// newStore returns the store for a remote below cacheDir. If cacheDir is "", the store is
// private.
func newStore(cacheDir, scratch string, remote *url.URL) store {
	if cacheDir == "" {
		return privateStore(scratch)
	}
	// Credentials are not part of the name. Objects are found by their hash, and anyone who can
	// read the cache can read all of it.
	dir := filepath.Join(cacheDir, "git", fmt.Sprintf("%x", sha256.Sum256([]byte(remote.String()))))
	return store{dir: dir, lockFile: dir + ".lock"}
}

// privateStore returns a store for one fetch.
func privateStore(scratch string) store { return store{dir: filepath.Join(scratch, "store")} }

func (s *store) exists() bool {
	_, err := os.Lstat(filepath.Join(s.dir, "HEAD"))
	return err == nil
}

// lock locks the store exclusively. It also waits for a git process that outlives the process
// that started it. Errors are those of ctx, or a *storeError.
func (s *store) lock(ctx context.Context) (unlock func(), err error) {
	release, err := s.acquire(ctx, (*flock.Flock).TryLockContext)
	if err != nil || s.lockFile == "" {
		return release, err
	}
	if s.held, err = holdFile(ctx, s.dir+".git"); err != nil {
		release()
		return nil, unusable(fmt.Errorf("wait for a git whose parent was killed: %w", err))
	}
	sweepStore(s.dir)
	return func() {
		if s.held != nil {
			_ = s.held.Close()
			s.held = nil
		}
		release()
	}, nil
}

// lockShared locks the store for reading.
func (s *store) lockShared(ctx context.Context) (unlock func(), err error) {
	return s.acquire(ctx, (*flock.Flock).TryRLockContext)
}

func (s *store) acquire(ctx context.Context, try func(*flock.Flock, context.Context, time.Duration) (bool, error)) (func(), error) {
	if s.lockFile == "" {
		return func() {}, nil
	}
	if err := storesDir(filepath.Dir(s.lockFile)); err != nil {
		return nil, unusable(err)
	}
	l := flock.New(s.lockFile, flock.SetFlag(lockFlags), flock.SetPermissions(0o600))
	if _, err := try(l, ctx, lockRetry); err != nil {
		return nil, unusable(errors.Join(fmt.Errorf("lock the git store: %w", err), l.Close()))
	}
	if info, err := l.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, unusable(errors.Join(err, errNotFile, l.Close()))
	}
	now := time.Now()
	_ = os.Chtimes(s.lockFile, now, now) // for GitStores; errors are ignored, so that a full cache still works
	return func() { _ = l.Close() }, nil
}

// ensure creates the store, unless a valid one exists. format is the required hash for object
// names; "" means any.
func (s *store) ensure(format string) error {
	found, err := checkStore(s.dir)
	if err == nil && (format == "" || format == found) {
		s.format = found
		return nil
	}
	return s.reinit(cmp.Or(format, "sha1"))
}

// reinit removes the store, if there is one, and creates an empty one. Errors are of type
// *storeError.
func (s *store) reinit(format string) error {
	if err := os.RemoveAll(s.dir); err != nil {
		return unusable(err)
	}
	s.fresh, s.format = true, format
	return unusable(makeStore(s.dir, format))
}

// otherFormat returns the hash that the store does not use for object names.
func (s *store) otherFormat() string {
	if s.format == "sha256" {
		return "sha1"
	}
	return "sha256"
}

// remove removes a damaged store.
func (s *store) remove(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return unusable(os.RemoveAll(s.dir))
}

// healthy reports whether the store has all objects that its refs need. It reads the whole
// store, so it is only called after a failure.
func (s *store) healthy(ctx context.Context, git *Git) bool {
	check := Command{Args: []string{"fsck", "--connectivity-only", "--no-dangling", "--no-progress"}, Repo: s.dir}
	return git.Run(ctx, check) == nil
}

// packBytes returns the size of the store's packs, including those that are being received.
func (s *store) packBytes() int64 {
	entries, err := os.ReadDir(filepath.Join(s.dir, "objects", "pack"))
	if err != nil {
		return 0 // there are none yet
	}
	var sum int64
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, "tmp_pack_") && !strings.HasSuffix(name, ".pack") {
			continue
		}
		if info, err := entry.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// parseFetchHead parses a line of FETCH_HEAD.
func parseFetchHead(line string) (id, ref string, ok bool) {
	id, rest, _ := strings.Cut(line, "\t")
	_, what, ok := strings.Cut(rest, "\t")
	if !ok || !git.IsObjectID(id) {
		return "", "", false
	}
	kind, rest, named := strings.Cut(what, "'")
	name, _, closed := strings.Cut(rest, "' of ")
	prefix, known := map[string]string{"tag ": "refs/tags/", "branch ": "refs/heads/", "remote-tracking branch ": "refs/remotes/", "": ""}[kind]
	if !named || !closed || !known {
		return id, "HEAD", true
	}
	if name == "" {
		return "", "", false
	}
	return id, prefix + name, true
}

// storeError means that a store cannot be used at its place. The fetch continues with a private
// store.
type storeError struct{ err error }

func (e *storeError) Error() string { return "the git store cannot be used: " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// unusable wraps an error in a storeError, unless the caller's context ended.
func unusable(err error) error {
	if err == nil || isCancelled(err) {
		return err
	}
	return &storeError{err}
}

var (
	errNotDirectory = errors.New("not a directory")
	errNotFile      = errors.New("a lock is not a regular file")
	errOtherOwner   = errors.New("it belongs to another user")
)

// gitCannotWrite maps git's messages about a store that it cannot write to to the reasons.
var gitCannotWrite = [...]struct{ phrase, reason string }{
	{"no space left on device", "no space left on device"},
	{"disk quota exceeded", "disk quota exceeded"},
	{"read-only file system", "read-only file system"},
	{"insufficient permission for adding an object", "permission denied"},
	{"unable to create temporary file", "permission denied"},
	{"fetch_head': permission denied", "permission denied"},
	{".lock': permission denied", "permission denied"},
}

// cacheTrouble returns the reason why the store cannot be written, in a few words. It returns
// "" if err has another cause.
func cacheTrouble(err error) string {
	if said, ok := errors.AsType[*Error](err); ok {
		for _, w := range gitCannotWrite {
			if said.Says(w.phrase) {
				return w.reason
			}
		}
		return ""
	}
	trouble, ok := errors.AsType[*storeError](err)
	if !ok {
		return ""
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	for _, known := range []error{errNotDirectory, errNotFile, errOtherOwner} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return trouble.err.Error()
}

// storesDir creates the directory that contains the stores. It must be a real directory,
// because a link could point to another user's directories.
func storesDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkStoresDir(dir)
}

func checkStoresDir(dir string) error {
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
