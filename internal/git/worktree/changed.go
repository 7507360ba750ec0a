package worktree

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// ChangedSince returns the files of the checkout that differ from a revision, as sorted absolute
// paths. The result includes files that are not in any commit, except ignored ones.
//
// "git diff" is not used, because it runs the filters that the configuration names. Git only
// lists object names: of the revision's tree, and of the index. The files are compared with the
// index here, as git does it except for these differences, all of which report more files:
//
//   - A file that differs in the index counts as changed even if the checkout has the revision's.
//   - A file with a filter (such as those of Git LFS), an encoding, or $Id$ counts as changed if
//     the times or the size in the index do not match: only the filter could tell.
//   - A file that is marked with "git update-index --assume-unchanged" is compared all the same.
//
// Line ends are compared as git does it, with core.autocrlf and the attribute text.
func (w *Tree) ChangedSince(ctx context.Context, rev string) ([]string, error) {
	id, err := w.commit(ctx, rev)
	if err != nil {
		return nil, err
	}
	tree, err := w.treeEntries(ctx, id)
	if err != nil {
		return nil, err
	}
	index, err := w.indexEntries(ctx)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for name, entry := range index {
		if tree[name] != entry.object {
			changed[name] = true
		}
	}
	for name := range tree {
		if _, ok := index[name]; !ok {
			changed[name] = true
		}
	}
	maps.DeleteFunc(index, func(name string, _ indexEntry) bool { return changed[name] })
	modified, err := w.modified(ctx, index)
	if err != nil {
		return nil, err
	}
	untracked, err := w.git.Output(ctx, w.command("ls-files", "--others", "--exclude-standard", "-z"), maxNames)
	if err != nil {
		return nil, err
	}
	for _, name := range append(modified, gitexec.SplitNames(string(untracked))...) {
		changed[name] = true
	}
	files := make([]string, 0, len(changed))
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		files = append(files, filepath.Join(w.Top, filepath.FromSlash(name)))
	}
	return files, nil
}

func (w *Tree) treeEntries(ctx context.Context, commit string) (map[string]object, error) {
	list, err := w.list(ctx, maxEntries, "ls-tree", "-r", "-z", "--full-tree", commit)
	entries := map[string]object{}
	for _, line := range list {
		entries[line.name] = object{line.fields[0], line.fields[2]}
	}
	return entries, err
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
