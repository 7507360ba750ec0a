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

	"github.com/cotterpin/cotter/internal/process/procgroup"
)

// OwnerError means that a repository belongs to another user, and that Top is not in safe.directory.
type OwnerError struct {
	Top string
	// Path belongs to the other user.
	Path string
	// Owner is a name or number; "" if it is not known.
	Owner string
	// Config is why safe.directory could not be read, or nil.
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

// Check returns an [*OwnerError] if the user may not use a repository. env is that of the process if it is nil.
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

// allows is for a top directory without symbolic links.
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

const configTime = 10 * time.Second

// safeDirectories has git read all of its configuration, outside of any repository.
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
