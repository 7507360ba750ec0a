package inprocess

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitdir"
)

// Local is a repository on this machine. It is read directly, without a protocol. go-git's own
// transport for local repositories is not used, because it would run git.
type Local struct {
	storage *filesystem.Storage
}

// OpenLocal opens the repository at a path. Like git, it accepts a bare repository, a working
// tree with .git, and either of them without the suffix ".git" of its directory.
func OpenLocal(path string) (*Local, error) {
	for _, dir := range []string{path + "/.git", path, path + ".git/.git", path + ".git"} {
		disk, err := gitDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := errors.Join(checkConfig(disk), checkAlternates(disk)); err != nil {
			return nil, err
		}
		return &Local{filesystem.NewStorageWithOptions(disk, cache.NewObjectLRUDefault(), filesystem.Options{
			// Alternates are absolute paths.
			AlternatesFS: osfs.New("/"),
		})}, nil
	}
	return nil, failure(NotFound, "%q is not a git repository", path)
}

// gitDir opens a git directory. If dir is a file, it opens the directory that the file points
// to.
func gitDir(dir string) (billy.Filesystem, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if dir, err = pointer(dir, "gitdir: "); err != nil {
			return nil, err
		}
	}
	common, err := pointer(filepath.Join(dir, "commondir"), "")
	switch {
	case err == nil: // an additional working tree of a repository
		return dotgit.NewRepositoryFilesystem(osfs.New(dir), osfs.New(common)), nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return osfs.New(dir), nil
}

// pointer returns the directory that a file points to.
func pointer(file, prefix string) (string, error) {
	dir, err := gitdir.ReadPointer(file, prefix)
	if _, ok := errors.AsType[*gitdir.PointerError](err); ok {
		return "", failure(Broken, "%q does not name a git directory", file)
	}
	return dir, err
}

// List implements [Source].
func (l *Local) List(context.Context) (*Listing, error) {
	iter, err := l.storage.IterReferences()
	if err != nil {
		return nil, err
	}
	defer iter.Close()
	objects := l.objects()
	list := &Listing{Refs: git.Refs{}, AnyCommit: true}
	err = iter.ForEach(func(ref *plumbing.Reference) error {
		name := ref.Name().String()
		ref, err := storer.ResolveReference(l.storage, ref.Name())
		if err != nil {
			return nil // it points to a branch without a commit
		}
		id := ref.Hash().String()
		to := git.Ref{ID: id, Commit: id}
		if commit, err := objects.commit(ref.Hash()); err == nil {
			to.Commit = commit.id.String()
		}
		list.Refs[name] = to
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the refs: %w", err)
	}
	if head, err := storer.ResolveReference(l.storage, plumbing.HEAD); err == nil {
		list.Refs[git.Head] = git.Ref{ID: head.Hash().String(), Commit: head.Hash().String()}
	}
	return list, nil
}

// Fetch implements [Source]. It gives access to all objects of the repository.
func (l *Local) Fetch(_ context.Context, want Want) (*Objects, error) {
	objects := l.objects()
	for _, id := range want.IDs {
		if _, err := objects.object(plumbing.NewHash(id)); err != nil {
			return nil, failure(Refused, "the repository has no object %s", id)
		}
	}
	return objects, nil
}

func (l *Local) objects() *Objects {
	return &Objects{
		get: func(id plumbing.Hash) (plumbing.EncodedObject, error) {
			return l.storage.EncodedObject(plumbing.AnyObject, id)
		},
		ids: func(prefix string) ([]plumbing.Hash, error) {
			whole, err := hex.DecodeString(prefix[:len(prefix)/2*2])
			if err != nil {
				return nil, err
			}
			return l.storage.HashesWithPrefix(whole)
		},
		close: func() error { return nil },
	}
}

// Received implements [Source]. It returns 0, because nothing is transferred.
func (l *Local) Received() int64 { return 0 }

// Close implements [Source].
func (l *Local) Close() error { return l.storage.Close() }

// checkConfig returns an error for repositories that go-git would misread.
func checkConfig(disk billy.Filesystem) error {
	return eachLine(disk, "config", func(line string) error {
		key, value, _ := strings.Cut(strings.ToLower(line), "=")
		value = strings.Trim(value, " \t\"")
		switch key = strings.TrimSpace(key); {
		case key == "objectformat" && value != "sha1":
			return failure(Unsupported, "the repository names its objects by %s", printable(value))
		case key == "refstorage" && value != "files":
			return failure(Unsupported, "the repository keeps its refs in the format %s", printable(value))
		}
		return nil
	})
}

// checkAlternates returns an error for repositories that borrow objects from relative paths,
// because go-git interprets them as absolute paths.
func checkAlternates(disk billy.Filesystem) error {
	return eachLine(disk, "objects/info/alternates", func(line string) error {
		if line != "" && !strings.HasPrefix(line, "#") && !filepath.IsAbs(line) {
			return failure(Unsupported, "the repository borrows objects from the relative path %s", printable(line))
		}
		return nil
	})
}

// eachLine calls check for each line of a file. The file does not have to exist. Reading fails
// after maxConfig bytes.
func eachLine(disk billy.Filesystem, name string, check func(line string) error) (err error) {
	f, err := disk.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(&limitedReader{r: f, left: maxConfig, what: name})
	for lines.Scan() {
		if err := check(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// maxConfig bounds the size of a repository's settings, in bytes. Legitimate files are much
// smaller.
const maxConfig = 4 << 20
