package gitexec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cotterpin/cotter/internal/git"
)

// The contents of a store may have been written by someone else. For example, a cache that is
// restored from an archive can have any content. A store is therefore created here and not by
// "git init". It is only used if it is a directory of this user, has the configuration that was
// written here, and contains only files that a fetch leaves there. It must not contain hooks,
// alternates, attributes, grafts, links or further configuration. The contents of its objects
// are checked when they are read.
const (
	storeHead = "ref: refs/heads/none\n"
	storeCore = "\tfilemode = false\n\tbare = true\n\tlogAllRefUpdates = false\n"
)

// storeConfigs are the configurations of stores, by the hash for object names.
var storeConfigs = map[string]string{
	"sha1":   "[core]\n\trepositoryformatversion = 0\n" + storeCore,
	"sha256": "[core]\n\trepositoryformatversion = 1\n" + storeCore + "[extensions]\n\tobjectFormat = sha256\n",
}

// The names of files and directories that a store may contain, relative to it.
var (
	storeDirs  = pattern(`^(objects(/(pack|info|[0-9a-f]{2}))?|refs|refs/cotter(/.*)?)$`)
	storeFiles = pattern(`^(HEAD|config|FETCH_HEAD|packed-refs|shallow|refs/cotter/.*` +
		`|objects/[0-9a-f]{2}/[0-9a-f]{38,62}|objects/pack/pack-[0-9a-f]{40,64}\.(pack|idx|rev|keep))$`)
	// storeTemporary matches files of a running git, or of one that was killed.
	storeTemporary = pattern(`^objects/(.*/)?tmp_[^/]*$|^shallow_[^/]*$|\.lock$`)
)

// makeStore creates an empty store. The parent directory must exist.
func makeStore(dir, format string) error {
	config, ok := storeConfigs[format]
	if !ok {
		return fmt.Errorf("there is no object format %q", format)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// HEAD is written last: without it, the directory is not a store.
	return errors.Join(
		root.MkdirAll("objects/pack", 0o700),
		root.MkdirAll("refs/cotter", 0o700),
		root.WriteFile("config", []byte(config), 0o600),
		root.WriteFile("HEAD", []byte(storeHead), 0o600),
	)
}

// writeConfig replaces the configuration of a private store by the one that makeStore wrote.
func (s *store) writeConfig() error {
	return os.WriteFile(filepath.Join(s.dir, "config"), []byte(storeConfigs[s.format]), 0o600)
}

// checkStore checks that a directory is a store of the form that makeStore creates, and returns
// the hash for its object names. Errors wrap git.ErrDamaged.
func checkStore(dir string) (format string, err error) {
	refuse := func(reason any) (string, error) { return "", fmt.Errorf("%w: %v", git.ErrDamaged, reason) }
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return refuse(err)
	case !info.IsDir():
		return refuse("it is not a directory")
	case ownedByOther(info):
		return refuse("it belongs to another user")
	}
	if err := checkStoreNames(dir); err != nil {
		return refuse(err)
	}
	head, err := readStoreFile(dir, "HEAD")
	if err != nil || head != storeHead {
		return refuse("its HEAD is not the one that was written")
	}
	config, err := readStoreFile(dir, "config")
	for format, want := range storeConfigs {
		if err == nil && config == want {
			return format, nil
		}
	}
	return refuse("its configuration is not the one that was written")
}

// storeRel returns the name of a file in a store, relative to the store.
func storeRel(dir, name string) string {
	return filepath.ToSlash(strings.TrimPrefix(name[len(dir):], string(filepath.Separator)))
}

func checkStoreNames(dir string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel := storeRel(dir, name)
		switch {
		case entry.IsDir() && storeDirs().MatchString(rel):
		case entry.Type().IsRegular() && (storeFiles().MatchString(rel) || storeTemporary().MatchString(rel)):
		default:
			return fmt.Errorf("it holds %q", rel)
		}
		return nil
	})
}

// maxStoreFile bounds the size of HEAD and config, which are much smaller.
const maxStoreFile = 4 << 10

// readStoreFile reads a file that must be a regular one.
func readStoreFile(dir, name string) (string, error) {
	name = filepath.Join(dir, name)
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxStoreFile {
		return "", fs.ErrInvalid
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// sweepStore removes the leftovers of a git that was killed: lock files, on which every later
// git would fail, and incomplete packs. It also removes FETCH_HEAD, which git would otherwise
// overwrite in place.
func sweepStore(dir string) {
	_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // does not exist yet, or no longer
		}
		if rel := storeRel(dir, name); rel == "FETCH_HEAD" || storeTemporary().MatchString(rel) {
			_ = os.Remove(name)
		}
		return nil
	})
}

// CachedStore is a bare repository below a Fetcher's CacheDir.
type CachedStore struct {
	// Dir is the directory of the store.
	Dir string
	// Used is the time of the last fetch into the store, or of the last read from it.
	Used time.Time
}

// storeName matches the directory names of stores.
var storeName = pattern(`^[0-9a-f]{64}$`)

// CachedStores returns the bare repositories below a Fetcher's CacheDir, sorted by directory.
// It returns none if the directory does not exist, or is a link.
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
		if info, err := os.Lstat(found.Dir + ".lock"); err == nil {
			found.Used = info.ModTime()
		}
		stores = append(stores, found)
	}
	return stores, err
}

// Remove removes the store once no process uses it. The lock files stay, because another
// process may be waiting for them. They are removed only if they are not regular files.
func (s CachedStore) Remove(ctx context.Context) error {
	found := store{dir: s.Dir, lockFile: s.Dir + ".lock"}
	err := found.remove(ctx)
	if !errors.Is(err, errNotFile) && !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.EISDIR) {
		return err
	}
	return errors.Join(os.RemoveAll(s.Dir+".lock"), os.RemoveAll(s.Dir+".git"), os.RemoveAll(s.Dir))
}
