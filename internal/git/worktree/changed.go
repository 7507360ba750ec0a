package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// ChangedSince returns the files of the checkout that differ from a revision, as sorted absolute
// paths. The result includes files that are not in any commit, except ignored ones.
//
// Git compares the revision with the index, and the index with the files, by commands that do not depend on
// settings for people. The result has more files than that of "git diff" in these cases:
//
//   - A file that differs in the index counts as changed even if the checkout has the revision's.
//   - A file with a filter (such as those of Git LFS) counts as changed if the times or the size in the
//     index do not match: only the filter could tell.
//   - A file whose line ends git converts counts as changed if its size is not the one in the index.
//   - A file that is marked with "git update-index --assume-unchanged" is compared all the same.
func (w *Tree) ChangedSince(ctx context.Context, rev string) ([]string, error) {
	id, err := w.commit(ctx, rev)
	if err != nil {
		return nil, err
	}
	staged, err := w.git.Output(ctx, w.command("diff-index", "--cached", "--name-only", "--ignore-submodules=dirty", "-z", id, "--"), maxNames)
	if err != nil {
		return nil, err
	}
	modified, err := w.modified(ctx)
	if err != nil {
		return nil, err
	}
	untracked, err := w.git.Output(ctx, w.command("ls-files", "--others", "--exclude-standard", "-z"), maxNames)
	if err != nil {
		return nil, err
	}
	names := slices.Concat(gitexec.SplitNames(string(staged)), modified, gitexec.SplitNames(string(untracked)))
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		names[i] = filepath.Join(w.Top, filepath.FromSlash(name))
	}
	return names, nil
}

// modified returns the files that differ from the index.
func (w *Tree) modified(ctx context.Context) ([]string, error) {
	settings, err := w.withoutFilters(ctx)
	if err != nil {
		return nil, err
	}
	dir, remove, err := filelock.MkdirTemp("cotter-index-")
	if err != nil {
		return nil, err
	}
	defer remove()
	settings = append(settings, "core.splitIndex=false")
	index := filepath.Join(dir, "index")
	if err := copyIndex(filepath.Join(w.gitDir, "index"), index); err != nil {
		return nil, err
	}
	ofIndex := func(args ...string) gitexec.Command {
		c := w.command(args...)
		c.Network = &gitexec.Network{} // with the user's configuration, which has core.autocrlf
		c.Config = settings
		c.IndexFile = index
		return c
	}
	if _, err := w.git.Output(ctx, ofIndex("update-index", "-q", "--unmerged", "--really-refresh"), maxNames); err != nil {
		return nil, err
	}
	names, err := w.git.Output(ctx, ofIndex("diff-files", "--name-only", "--ignore-submodules=dirty", "-z"), maxNames)
	return gitexec.SplitNames(string(names)), err
}

// copyIndex makes a copy to which git can write the times of unchanged files. The time of the index itself
// tells git which of them it can trust.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was ever added
	}
	if err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// withoutFilters returns settings with which git runs no filter that any configuration names. It would run
// them to compare files.
func (w *Tree) withoutFilters(ctx context.Context) ([]string, error) {
	list := w.command("config", "--list", "--name-only", "-z")
	list.Network = &gitexec.Network{}
	names, err := w.git.Output(ctx, list, maxConfig)
	if err != nil {
		return nil, err
	}
	var settings []string
	for _, name := range gitexec.SplitNames(string(names)) {
		filter := name[:max(0, strings.LastIndexByte(name, '.'))]
		switch {
		case !strings.HasPrefix(filter, "filter."):
		case strings.Contains(filter, "="):
			return nil, fmt.Errorf("git cannot be run without the filter of the setting %q, because of the \"=\" in its name", name)
		default:
			settings = append(settings, filter+".process=", filter+".clean=", filter+".required=false")
		}
	}
	return settings, nil
}
