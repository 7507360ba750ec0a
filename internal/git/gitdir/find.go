package gitdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

var ErrNoRepository = errors.New("it is not in a git repository")

// maxPointer bounds .git and commondir, which have one path, in bytes.
const maxPointer = 64 << 10

// Repository is a checkout. All paths are absolute.
type Repository struct {
	// Top has no symbolic links.
	Top string
	// GitFile is .git if it is a file, as in submodules and additional working trees; else "".
	GitFile string
	GitDir  string
	// CommonDir is what the working trees of a repository share; GitDir unless this is an additional one.
	CommonDir string
}

// Find returns the innermost repository around a directory, of any owner: nothing of it may be used before
// [Check]. As for git, a directory .git that is no repository is passed over, and a file .git that names no
// repository is an error.
func Find(dir string) (Repository, error) {
	at, err := pathsafe.Real(dir)
	if err != nil {
		return Repository{}, err
	}
	for {
		repo, ok, err := repositoryAt(at)
		if ok || err != nil {
			return repo, err
		}
		above := filepath.Dir(at)
		if above == at {
			return Repository{}, fmt.Errorf("%s: %w", dir, ErrNoRepository)
		}
		at = above
	}
}

func repositoryAt(top string) (repo Repository, ok bool, err error) {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err != nil:
		return Repository{}, false, nil // as for git, also if it cannot be looked at
	case info.IsDir():
		common, ok := commonDir(dotGit)
		return Repository{Top: top, GitDir: dotGit, CommonDir: common}, ok, nil
	case !info.Mode().IsRegular():
		return Repository{}, false, nil
	}
	dir, err := readPointer(dotGit, "gitdir: ")
	if err != nil {
		return Repository{}, false, err
	}
	common, ok := commonDir(dir)
	if !ok {
		return Repository{}, false, fmt.Errorf("%s names %q, which is not a git directory", dotGit, dir)
	}
	return Repository{Top: top, GitFile: dotGit, GitDir: dir, CommonDir: common}, true, nil
}

// commonDir returns false if dir is not a git directory.
func commonDir(dir string) (common string, ok bool) {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return "", false
	}
	common = dir
	if info, err := os.Stat(filepath.Join(dir, "commondir")); err == nil && info.Mode().IsRegular() {
		if common, err = readPointer(filepath.Join(dir, "commondir"), ""); err != nil {
			return "", false
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return "", false
		}
	}
	return common, true
}

// readPointer returns the directory that a file names: .git after "gitdir: ", or commondir.
func readPointer(file, prefix string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPointer))
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if !ok || target == "" || strings.ContainsAny(target, "\x00\n") {
		return "", errors.New(file + " does not name a git directory")
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return filepath.Clean(target), nil
}
