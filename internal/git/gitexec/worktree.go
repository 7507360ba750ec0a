package gitexec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// maxNames bounds a list of changed files, in bytes.
const maxNames = 64 << 20

// ErrNoRepository says that a directory is in no git repository.
var ErrNoRepository = errors.New("it is in no git repository")

// WorkTree is the user's own checkout, in which a program runs.
type WorkTree struct {
	// Top is the directory at the top of the checkout, an absolute path without
	// symbolic links.
	Top string
	git *Git
}

// WorkTree returns the checkout that a directory is in. The error wraps
// ErrNoRepository if it is in none.
func (g *Git) WorkTree(dir string) (*WorkTree, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return nil, err
	}
	for {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return &WorkTree{Top: at, git: g}, nil
		}
		above := filepath.Dir(at)
		if above == at {
			return nil, fmt.Errorf("%s: %w", dir, ErrNoRepository)
		}
		at = above
	}
}

// command is a command in the checkout, which is named: git needs not look for it,
// and it may belong to another user, as on build servers.
func (w *WorkTree) command(args ...string) Command {
	return Command{Args: args, Repo: filepath.Join(w.Top, ".git"), WorkTree: w.Top}
}

// commit returns the id of the commit that a revision means.
func (w *WorkTree) commit(ctx context.Context, rev string) (string, error) {
	if strings.HasPrefix(rev, "-") {
		return "", fmt.Errorf("%q is no revision", rev)
	}
	out, err := w.git.Output(ctx, w.command("rev-parse", "--verify", "--quiet", rev+"^{commit}"), maxProbeOutput)
	if failed, ok := errors.AsType[*Error](err); ok && failed.ExitCode == 1 {
		return "", fmt.Errorf("the repository has no revision %q", rev)
	}
	id := strings.TrimSpace(string(out))
	if err == nil && !git.IsObjectID(id) {
		return "", fmt.Errorf("unexpected answer %q to \"git rev-parse\"", id)
	}
	return id, err
}

// ChangedSince returns the files of the checkout that differ from a revision, as
// absolute paths: those that are in no commit yet as well, but for ignored ones.
func (w *WorkTree) ChangedSince(ctx context.Context, rev string) ([]string, error) {
	id, err := w.commit(ctx, rev)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "-z", id, "--"},
		{"ls-files", "--others", "--exclude-standard", "-z"},
	} {
		out, err := w.git.Output(ctx, w.command(args...), maxNames)
		if err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if name != "" {
				files = append(files, filepath.Join(w.Top, filepath.FromSlash(name)))
			}
		}
	}
	return files, nil
}

// Show returns a file as a revision has it, by its path from the top of the checkout
// with forward slashes. One of more than limit bytes is an error.
func (w *WorkTree) Show(ctx context.Context, rev, name string, limit int) ([]byte, error) {
	id, err := w.commit(ctx, rev)
	if err != nil {
		return nil, err
	}
	listed, err := w.git.Output(ctx, w.command("ls-tree", "-z", id, "--", name), maxProbeOutput)
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
		return nil, fmt.Errorf("%s is no regular file in the revision %q", name, rev)
	}
	return w.git.Output(ctx, w.command("cat-file", "blob", blob), limit)
}
