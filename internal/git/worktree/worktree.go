package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

const (
	// maxLine bounds one short line of output, in bytes.
	maxLine = 4 << 10
	// maxConfig is in bytes. Usually there are a few hundred.
	maxConfig = 1 << 20
	// maxNames bounds a list of files, in bytes.
	maxNames = 64 << 20
)

const modeLink = "120000"

var errAnswer = errors.New("unexpected answer from git")

// Tree is the user's own checkout, whose owner was checked.
type Tree struct {
	// Top is absolute, without symbolic links.
	Top string
	// Prefix is the path from Top to the directory that was opened, with slashes; "." for Top.
	Prefix string

	gitDir, commonDir string
	git               *gitexec.Git
}

// Open returns the checkout around a directory. The error wraps [gitdir.ErrNoRepository], or is a
// [*gitdir.OwnerError].
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
	return &Tree{Top: repo.Top, Prefix: prefix, gitDir: repo.GitDir, commonDir: repo.CommonDir, git: git}, nil
}

func below(top, dir string) (string, error) {
	dir, err := pathsafe.Real(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(top, dir)
	return filepath.ToSlash(rel), err
}

// RevisionError is also about HEAD before the first commit.
type RevisionError struct{ Rev string }

func (e *RevisionError) Error() string {
	return fmt.Sprintf("the repository has no revision %q", e.Rev)
}

// command names the repository and the checkout, so that the configuration cannot name another one.
func (w *Tree) command(args ...string) gitexec.Command {
	return gitexec.Command{Args: args, Repo: w.gitDir, WorkTree: w.Top}
}

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

// fromTop resolves "./" and "../" from Prefix.
func (w *Tree) fromTop(name string) string {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return path.Join(w.Prefix, name)
	}
	return name
}

// Show returns a file of a revision, by a name for fromTop. More than limit bytes are an error.
func (w *Tree) Show(ctx context.Context, rev, name string, limit int) ([]byte, error) {
	name = w.fromTop(name)
	id, err := w.commit(ctx, rev)
	if err != nil {
		return nil, err
	}
	found, err := w.list(ctx, maxLine, "ls-tree", "-z", id, "--", name)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the revision %q has no file %s: %w", rev, name, os.ErrNotExist)
	}
	mode, kind, blob := found[0].fields[0], found[0].fields[1], found[0].fields[2]
	if kind != "blob" || mode == modeLink {
		return nil, fmt.Errorf("%s is not a regular file in the revision %q", name, rev)
	}
	return w.git.Output(ctx, w.command("cat-file", "blob", blob), limit)
}

// listed is a line of git ls-tree (mode, kind, object), or of git ls-files --stage (mode, object, stage).
type listed struct {
	fields []string
	name   string
}

func (w *Tree) list(ctx context.Context, limit int, args ...string) ([]listed, error) {
	out, err := w.git.Output(ctx, w.command(args...), limit)
	if err != nil {
		return nil, err
	}
	var list []listed
	for _, line := range gitexec.SplitNames(string(out)) {
		fields, name, ok := strings.Cut(line, "\t")
		l := listed{strings.Split(fields, " "), name}
		if !ok || len(l.fields) != 3 || !git.IsObjectID(l.fields[1]) && !git.IsObjectID(l.fields[2]) {
			return nil, fmt.Errorf("%w: %q", errAnswer, line)
		}
		list = append(list, l)
	}
	return list, nil
}
