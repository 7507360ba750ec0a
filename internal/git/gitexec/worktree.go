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

// maxNames bounds the size of a list of changed files, in bytes.
const maxNames = 64 << 20

// ErrNoRepository means that a directory is not in a git repository.
var ErrNoRepository = errors.New("it is not in a git repository")

// WorkTree is the user's own checkout, which Cotter runs in.
type WorkTree struct {
	// Top is the top directory of the checkout, as an absolute path without symbolic links.
	Top string
	git *Git
}

// WorkTree returns the checkout that contains a directory. The error wraps ErrNoRepository if
// there is none.
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

// command returns a command that runs in the checkout. It names the repository, so that git
// does not look for it, and so that it may belong to another user, as on build servers.
func (w *WorkTree) command(args ...string) Command {
	return Command{Args: args, Repo: filepath.Join(w.Top, ".git"), WorkTree: w.Top}
}

// commit returns the id of the commit that a revision refers to.
func (w *WorkTree) commit(ctx context.Context, rev string) (string, error) {
	if strings.HasPrefix(rev, "-") {
		return "", fmt.Errorf("%q is not a revision", rev)
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

// ChangedSince returns the files of the checkout that differ from a revision, as absolute
// paths. The result includes files that are not in any commit, except ignored ones.
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

// Show returns the content of a file in a revision. name is its path from the top of the
// checkout, with forward slashes. It is an error if the file has more than limit bytes.
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
		return nil, fmt.Errorf("%s is not a regular file in the revision %q", name, rev)
	}
	return w.git.Output(ctx, w.command("cat-file", "blob", blob), limit)
}
