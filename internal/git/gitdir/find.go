package gitdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoRepository means that a directory is not in a git repository.
var ErrNoRepository = errors.New("it is not in a git repository")

// maxPointer bounds the size of a file .git or commondir, in bytes. It contains one path.
const maxPointer = 64 << 10

// Repository is a checkout and its git directory. All paths are absolute.
type Repository struct {
	// Top is the top directory of the checkout, without symbolic links.
	Top string
	// GitFile is the path of .git if it is a file, as in submodules and in additional working
	// trees; "" if it is a directory.
	GitFile string
	// GitDir is the git directory.
	GitDir string
}

// Find returns the innermost repository that contains a directory. The repository may belong
// to anyone: nothing of it may be used before [Check]. As in git, a directory .git that is not
// a git directory is passed over, and a file .git that does not name one is an error. The error
// wraps [ErrNoRepository] if there is no repository.
func Find(dir string) (Repository, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return Repository{}, err
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
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

// repositoryAt returns the repository whose top directory is top.
func repositoryAt(top string) (repo Repository, ok bool, err error) {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err != nil:
		return Repository{}, false, nil // as for git, also if it cannot be looked at
	case info.IsDir():
		return Repository{Top: top, GitDir: dotGit}, isGitDir(dotGit), nil
	case !info.Mode().IsRegular():
		return Repository{}, false, nil
	}
	dir, err := ReadPointer(dotGit, "gitdir: ")
	if err != nil {
		return Repository{}, false, err
	}
	if !isGitDir(dir) {
		return Repository{}, false, fmt.Errorf("%s names %q, which is not a git directory", dotGit, dir)
	}
	return Repository{Top: top, GitFile: dotGit, GitDir: dir}, true, nil
}

// isGitDir reports whether a directory has what git requires of a git directory.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common := dir
	if info, err := os.Stat(filepath.Join(dir, "commondir")); err == nil && info.Mode().IsRegular() {
		if common, err = ReadPointer(filepath.Join(dir, "commondir"), ""); err != nil {
			return false
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// ReadPointer returns the absolute path of the directory that a file names after a prefix: a file .git
// after "gitdir: ", or a file commondir. The error is a [*PointerError] if it names none, and
// otherwise that of the file system.
func ReadPointer(file, prefix string) (string, error) {
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
		return "", &PointerError{File: file}
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return filepath.Clean(target), nil
}

// PointerError says that a file does not name a git directory.
type PointerError struct{ File string }

func (e *PointerError) Error() string { return e.File + " does not name a git directory" }
