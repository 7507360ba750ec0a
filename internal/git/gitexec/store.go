package gitexec

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// maxFetchHead bounds a line of FETCH_HEAD, in bytes: an object name, a ref and a URL.
const maxFetchHead = 64 << 10

// store is a bare repository for one fetch, in a private directory, with a configuration that is made here:
// "git init" would read the user's templates. Only packs, whose objects are checked when they are read, and the
// list of shallow commits come from the cache.
type store struct {
	// dumb says that the server sends files only: packs may lack objects, which are single files then, so nothing is
	// kept in the cache.
	dumb bool
	dir  string
	// format is "" before the repository is created.
	format string
	cached cached
	// fresh is set if there are no packs of the cache, which could be damaged.
	fresh bool
}

func newStore(cacheDir, scratch string, remote *url.URL) store {
	s := store{dir: filepath.Join(scratch, "store")}
	if cacheDir != "" {
		// Credentials are not part of the name: anyone who can read the cache can read all of it.
		s.cached.dir = filepath.Join(cacheDir, "git", fmt.Sprintf("%x", sha256.Sum256([]byte(remote.String()))))
	}
	return s
}

const (
	storeHead = "ref: refs/heads/none\n"
	storeCore = "\tfilemode = false\n\tbare = true\n\tlogAllRefUpdates = false\n"
)

var storeConfigs = map[string]string{
	"sha1":   "[core]\n\trepositoryformatversion = 0\n" + storeCore,
	"sha256": "[core]\n\trepositoryformatversion = 1\n" + storeCore + "[extensions]\n\tobjectFormat = sha256\n",
}

// open creates the repository, unless it exists, and adds what the cache has. "" means any format.
func (s *store) open(format string) error {
	packs := s.cached.packs()
	if format == "" {
		format = s.format
	}
	if format == "" && len(packs) > 0 {
		format = packs[0].format()
	}
	format = cmp.Or(format, "sha1")
	if format != s.format {
		if err := s.reinit(format); err != nil {
			return err
		}
	}
	for _, pack := range packs {
		if pack.format() == format && pack.link(s.cached.dir, s.packDir()) == nil {
			s.fresh = false
		}
	}
	if s.fresh {
		return nil
	}
	// Git tells the server that it has the commits of its refs.
	refs := "# pack-refs with: peeled fully-peeled sorted \n"
	shallow := ""
	for _, id := range s.cached.shallow() {
		if objectFormat(id) == format {
			shallow += id + "\n"
			refs += id + " " + storeCommits + id + "\n"
		}
	}
	if shallow == "" {
		return nil
	}
	return errors.Join(s.write(shallowName, shallow), s.write("packed-refs", refs))
}

// reinit creates an empty repository.
func (s *store) reinit(format string) error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	s.fresh, s.format = true, format
	for _, dir := range []string{s.packDir(), filepath.Join(s.dir, "refs", "cotter")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return errors.Join(s.writeConfig(), s.write("HEAD", storeHead))
}

// writeConfig also reverts what git has written there.
func (s *store) writeConfig() error { return s.write("config", storeConfigs[s.format]) }

func (s *store) write(name, text string) error {
	return os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600)
}

func (s *store) packDir() string { return filepath.Join(s.dir, "objects", "pack") }

// keep needs the lock of the cache.
func (s *store) keep() error {
	if s.cached.dir == "" || s.dumb {
		return nil
	}
	shallow, err := os.ReadFile(filepath.Join(s.dir, shallowName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return s.cached.add(s.packDir(), shallow)
}

// discard removes damaged objects, also from the cache.
func (s *store) discard() error {
	s.format = ""
	return errors.Join(os.RemoveAll(s.dir), os.RemoveAll(s.cached.dir))
}

func (s *store) otherFormat() string {
	if s.format == "sha256" {
		return "sha1"
	}
	return "sha256"
}

// healthy reads the whole store, so it is only called after a failure.
func (s *store) healthy(ctx context.Context, git *Git) bool {
	check := Command{Args: []string{"fsck", "--connectivity-only", "--no-dangling", "--no-progress"}, Repo: s.dir}
	return git.Run(ctx, check) == nil
}

// packBytes includes packs that are being received.
func (s *store) packBytes() int64 {
	entries, err := os.ReadDir(s.packDir())
	if err != nil {
		return 0 // there are none yet
	}
	sum := s.looseBytes()
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

// looseBytes returns the size of single objects, which only file servers send.
func (s *store) looseBytes() (sum int64) {
	if !s.dumb {
		return 0
	}
	_ = filepath.WalkDir(filepath.Dir(s.packDir()), func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // files vanish while git works
		case entry.IsDir() && name == s.packDir():
			return fs.SkipDir
		}
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// fetchHead returns the object and the full name of the ref that git resolved, from the first line of FETCH_HEAD.
func (s *store) fetchHead() (id, ref string, err error) {
	f, err := os.Open(filepath.Join(s.dir, "FETCH_HEAD"))
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", git.ErrDamaged, err)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxFetchHead))
	line, _, _ := strings.Cut(string(head), "\n")
	id, ref, ok := parseFetchHead(line)
	if err == nil && !ok {
		err = fmt.Errorf("%w: unexpected FETCH_HEAD %q", git.ErrDamaged, line)
	}
	return id, ref, err
}

// parseFetchHead parses a line in the format of git-fmt-merge-msg(1): the object, a tab, a tab, and "tag 'v1' of
// https://...", "'refs/x' of ..." or, for HEAD, only the URL.
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
