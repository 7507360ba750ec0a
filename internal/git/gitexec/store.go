package gitexec

import (
	"bufio"
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
	"time"

	"github.com/gofrs/flock"

	"github.com/cotterpin/cotter/internal/git"
)

// lockRetry is how often a lock that another holds is tried again.
const lockRetry = 20 * time.Millisecond

// maxFetchHead bounds a line of FETCH_HEAD: an object name, a ref, a URL.
const maxFetchHead = 64 << 10

// store is a bare repository for what was fetched from one remote. Any
// number of processes may use it: fetching excludes everybody else, reading
// excludes fetching. There is no lock in the process beside the file's, as
// flock(2) tells descriptors apart, not processes.
type store struct {
	dir string
	// lockFile is beside dir, so that dir can be removed; "" for a private
	// store, which needs no lock.
	lockFile string
	// format is the hash that names the objects, once it is known.
	format string
	// fresh says that this fetch made the store, so that a second attempt
	// would find no better one.
	fresh bool
	// held is a lock that every git which writes to the store inherits; nil
	// where there is no need for one.
	held *os.File
}

// newStore is the store of a remote below cacheDir, or a private one.
func newStore(cacheDir, scratch string, remote *url.URL) store {
	if cacheDir == "" {
		return privateStore(scratch)
	}
	// Credentials do not count. Objects are found by their hash, and who may
	// read the cache may read it whole.
	dir := filepath.Join(cacheDir, "git", fmt.Sprintf("%x", sha256.Sum256([]byte(remote.String()))))
	return store{dir: dir, lockFile: dir + ".lock"}
}

// privateStore is a store for one fetch.
func privateStore(scratch string) store { return store{dir: filepath.Join(scratch, "store")} }

func (s *store) exists() bool {
	_, err := os.Lstat(filepath.Join(s.dir, "HEAD"))
	return err == nil
}

// lock excludes everybody else, also a git that outlives the process which
// started it. Errors are those of ctx or a *storeError.
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

// lockShared excludes those who write.
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
	_ = os.Chtimes(s.lockFile, now, now) // for GitStores; a cache that is full still works
	return func() { _ = l.Close() }, nil
}

// ensure makes the store unless it is there and as it should be. format is the
// hash that must name its objects; "" means any.
func (s *store) ensure(format string) error {
	found, err := checkStore(s.dir)
	if err == nil && (format == "" || format == found) {
		s.format = found
		return nil
	}
	return s.reinit(cmp.Or(format, "sha1"))
}

// reinit makes an empty store in the place of whatever there is. Errors are
// *storeErrors.
func (s *store) reinit(format string) error {
	if err := os.RemoveAll(s.dir); err != nil {
		return unusable(err)
	}
	s.fresh, s.format = true, format
	return unusable(makeStore(s.dir, format))
}

// otherFormat is the hash that does not name the store's objects.
func (s *store) otherFormat() string {
	if s.format == "sha256" {
		return "sha1"
	}
	return "sha256"
}

// remove deletes a damaged store.
func (s *store) remove(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return unusable(os.RemoveAll(s.dir))
}

// healthy reports whether all that the store's refs need is there. It is asked
// after a failure only: it reads the whole store.
func (s *store) healthy(ctx context.Context, git *Git) bool {
	check := Command{Args: []string{"fsck", "--connectivity-only", "--no-dangling", "--no-progress"}, Repo: s.dir}
	return git.Run(ctx, check) == nil
}

// packBytes is the size of the store's packs, those being received included.
func (s *store) packBytes() int64 {
	entries, err := os.ReadDir(filepath.Join(s.dir, "objects", "pack"))
	if err != nil {
		return 0 // none yet
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

// fetchHead reads what the last fetch brought: an object and the full name of
// the ref that git found for it. The form is that of git-fmt-merge-msg(1): the
// object, a tab, a tab, and a description such as "tag 'v1' of https://...",
// "'refs/x' of ..." or, for HEAD, the URL alone.
func (s *store) fetchHead() (id, ref string, err error) {
	f, err := os.Open(filepath.Join(s.dir, "FETCH_HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("%w: no FETCH_HEAD", git.ErrDamaged)
	}
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxFetchHead)
	lines.Scan()
	id, ref, ok := parseFetchHead(lines.Text())
	if !ok {
		return "", "", fmt.Errorf("%w: unexpected FETCH_HEAD %q", git.ErrDamaged, lines.Text())
	}
	return id, ref, nil
}

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
	return id, prefix + name, true
}
