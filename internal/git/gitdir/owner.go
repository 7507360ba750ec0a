package gitdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/procgroup"
)

// OwnerError means that a repository belongs to another user and that safe.directory does not
// allow it. Adding Top to safe.directory allows it.
type OwnerError struct {
	// Top is the top directory of the checkout.
	Top string
	// Path is the file or directory that belongs to another user.
	Path string
	// Owner is the name of that user, or the number if it has no name; "" if it is not known.
	Owner string
	// Config is set if the values of safe.directory could not be read.
	Config error
}

func (e *OwnerError) Error() string {
	text := fmt.Sprintf("the git repository in %s is not used, because %s", e.Top, e.Path)
	if e.Owner == "" {
		text += " does not belong to you"
	} else {
		text += fmt.Sprintf(" belongs to another user (%s)", e.Owner)
	}
	if e.Config != nil {
		text += fmt.Sprintf(", and safe.directory cannot be read: %s", e.Config)
	}
	return text
}

func (e *OwnerError) Unwrap() error { return e.Config }

// Check returns an error of type [*OwnerError] if the user of the process may not use a
// repository. See the documentation of the package for the rule. env is the environment that
// locates git, its configuration and SUDO_UID; nil means that of the process.
func Check(repo Repository, env []string) error {
	if env == nil {
		env = os.Environ()
	}
	refused := firstForeign(repo, env)
	if refused == nil {
		return nil
	}
	if repo.Top == "" || repo.GitDir == "" {
		return refused // the zero value, which "*" must not allow
	}
	safe, err := safeDirectories(env)
	if err != nil {
		refused.Config = err
		return refused
	}
	if slices.ContainsFunc(safe, func(value string) bool { return allows(value, repo.Top) }) {
		return nil
	}
	return refused
}

// firstForeign describes what in a repository does not belong to the user; nil if everything
// does.
func firstForeign(repo Repository, env []string) *OwnerError {
	paths := []string{repo.Top, repo.GitDir}
	if repo.GitFile != "" {
		paths = append(paths, repo.GitFile)
	}
	for _, path := range paths {
		if own, owner := ownedByUser(path, env); !own {
			return &OwnerError{Top: repo.Top, Path: path, Owner: owner}
		}
	}
	return nil
}

// allows reports whether a value of safe.directory allows the repository with a top directory,
// an absolute path without symbolic links.
func allows(value, top string) bool {
	if value == "*" {
		return true
	}
	if !filepath.IsAbs(value) {
		return false
	}
	dir, all := strings.CutSuffix(filepath.ToSlash(value), "/*")
	if all && dir == "" {
		return true
	}
	dir, err := filepath.EvalSymlinks(filepath.FromSlash(dir))
	if err != nil {
		return false // the path of another machine that shares the configuration
	}
	if !all {
		return samePath(dir, top)
	}
	for at := top; at != filepath.Dir(at); {
		if at = filepath.Dir(at); samePath(at, dir) {
			return true
		}
	}
	return false
}

func samePath(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// configTime bounds the time for reading the configuration.
const configTime = 10 * time.Second

// safeDirectories returns the values of safe.directory that no later empty value discards. Git reads
// them, with all that its configuration can include, and outside of any repository.
func safeDirectories(env []string) ([]string, error) {
	git := procgroup.Find(env, "git")
	if git == "" {
		return nil, errors.New("git is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), configTime)
	defer cancel()
	list := exec.CommandContext(ctx, git, "config", "--includes", "-z", "--type=path", "--get-all", "safe.directory")
	list.Env = append(procgroup.Without(slices.Clone(env), "GIT_CONFIG", "GIT_DIR", "LC_ALL"), "GIT_DIR=/dev/null", "LC_ALL=C")
	procgroup.Detach(list)
	out, err := list.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		if failed.ExitCode() == 1 {
			return nil, nil // there are none
		}
		return nil, errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	var values []string
	for value := range strings.SplitAfterSeq(string(out), "\x00") {
		switch value {
		case "":
		case "\x00":
			values = nil
		default:
			values = append(values, strings.TrimSuffix(value, "\x00"))
		}
	}
	return values, err
}
