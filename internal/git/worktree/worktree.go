package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

const (
	// maxLine bounds the output of a command with one short line of output, in bytes.
	maxLine = 4 << 10
	// maxConfig bounds the size of the repository's configuration, in bytes. Usually it has a few
	// hundred.
	maxConfig = 1 << 20
)

// Tree is the user's own checkout, which Cotter runs in. Its owner was checked. No command
// in it runs a program that its configuration or its attributes name.
type Tree struct {
	// Top is the top directory of the checkout, as an absolute path without symbolic links.
	Top string
	// Prefix is the path from Top to the directory in which the checkout was looked for, with
	// forward slashes; "." for Top.
	Prefix string

	gitDir string
	git    *gitexec.Git
}

// Open returns the checkout that contains a directory. The error wraps
// [gitdir.ErrNoRepository] if the directory is in no repository, and is of type [*gitdir.OwnerError] if the
// user may not use it.
func Open(git *gitexec.Git, dir string) (*Tree, error) {
	repo, err := gitdir.Find(dir)
	if err != nil {
		return nil, err
	}
	if err := gitdir.Check(repo, git.Env); err != nil {
		return nil, err
	}
	prefix, err := below(repo.Top, dir)
	if err != nil {
		return nil, err
	}
	return &Tree{Top: repo.Top, Prefix: prefix, gitDir: repo.GitDir, git: git}, nil
}

// below returns the path from top to an existing directory, with forward slashes.
func below(top, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(top, dir)
	return filepath.ToSlash(rel), err
}

// RevisionError says that a repository does not have a revision, such as HEAD before the first
// commit.
type RevisionError struct{ Rev string }

func (e *RevisionError) Error() string {
	return fmt.Sprintf("the repository has no revision %q", e.Rev)
}

// command returns a command that runs in the checkout. It names the repository and the checkout,
// so that git looks for neither, and so that the configuration cannot name another checkout.
func (w *Tree) command(args ...string) gitexec.Command {
	return gitexec.Command{Args: args, Repo: w.gitDir, WorkTree: w.Top}
}

// commit returns the id of the commit that a revision refers to.
func (w *Tree) commit(ctx context.Context, rev string) (string, error) {
	if strings.HasPrefix(rev, "-") {
		return "", fmt.Errorf("%q is not a revision", rev)
	}
	out, err := w.git.Output(ctx, w.command("rev-parse", "--verify", "--quiet", rev+"^{commit}"), maxLine)
	if failed, ok := errors.AsType[*gitexec.Error](err); ok && failed.ExitCode == 1 {
		return "", &RevisionError{Rev: rev}
	}
	id := strings.TrimSpace(string(out))
	if err == nil && !git.IsObjectID(id) {
		return "", fmt.Errorf("unexpected answer %q to \"git rev-parse\"", id)
	}
	return id, err
}

// fromTop returns the path of a file from the top of the checkout. A name that begins with "./" or
// "../" is relative to Prefix.
func (w *Tree) fromTop(name string) string {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return path.Join(w.Prefix, name)
	}
	return name
}

// Show returns the content of a file in a revision. name is its path from the top of the
// checkout, with forward slashes; if it begins with "./" or "../", it is relative to Prefix. It
// is an error if the file has more than limit bytes.
func (w *Tree) Show(ctx context.Context, rev, name string, limit int) ([]byte, error) {
	name = w.fromTop(name)
	id, err := w.commit(ctx, rev)
	if err != nil {
		return nil, err
	}
	listed, err := w.git.Output(ctx, w.command("ls-tree", "-z", id, "--", name), maxLine)
	if err != nil {
		return nil, err
	}
	mode, rest, _ := strings.Cut(string(listed), " ")
	kind, rest, _ := strings.Cut(rest, " ")
	blob, _, _ := strings.Cut(rest, "\t")
	switch {
	case len(listed) == 0:
		return nil, fmt.Errorf("the revision %q has no file %s: %w", rev, name, os.ErrNotExist)
	case kind != "blob" || mode == "120000" || !git.IsObjectID(blob):
		return nil, fmt.Errorf("%s is not a regular file in the revision %q", name, rev)
	}
	return w.git.Output(ctx, w.command("cat-file", "blob", blob), limit)
}
